"""A verifier key as words that two people can compare aloud: the key on a page, and the one on the notice board."""

from __future__ import annotations

from hashlib import sha256
from typing import Final

from referee.log.note import VerifierKey

COUNT: Final = 12
"""Of 8 bits each: to find a second key with the same words takes some 2^96 attempts."""
WORDS: Final = """
    acid acorn actor album alley amber anchor angel apple apron arch arrow atlas attic autumn bacon badge
    baker bamboo banana barrel basin basket beach beard bell bench bicycle birch biscuit blanket bonnet bottle
    bowl bridge bronze brush bubble bucket butter cabin cactus camel candle canoe carpet carrot castle cedar
    cello chalk cherry chess chimney cinema circus citrus clover cobra coffee comet copper coral cotton cradle
    crane cricket crown crystal curtain daisy dancer desert diamond dinner doctor dolphin donkey dragon drum
    eagle easel echo elbow elephant ember engine envelope falcon feather fender ferry fiddle finger flute
    forest fossil fountain fox galaxy garlic ginger giraffe glacier goblet gondola grape guitar hammer harbour
    harvest hazel helmet heron hobby honey hotel hunter iceberg igloo indigo iron island ivory jacket jaguar
    jelly jewel jigsaw jungle kayak kernel kettle kitchen kitten koala ladder lagoon lantern lemon leopard
    letter lily lizard lobster locket lotus magnet mango maple marble meadow melon mirror mitten monkey mosaic
    mountain muffin museum napkin nectar needle noodle nutmeg oasis oboe ocean octopus olive onion orbit
    orchid otter oven owl oyster paddle palace panda paper parrot peacock pebble pencil pepper piano pigeon
    pillow planet plum pocket pony potato prism pumpkin puppet quartz quilt rabbit radish rainbow raven ribbon
    river robin rocket rose ruby saddle salmon sandal saxophone scarf school shadow shell silver sister spider
    spoon squirrel stable statue summer sunset swan table tango teapot temple thunder ticket tiger tomato
    trumpet tulip tunnel turtle umbrella uncle valley vanilla velvet village violin volcano wagon walnut whale
    whistle window winter wizard yogurt zebra
""".split()  # noqa: SIM905 - a page of words reads better than a column of them


def spoken(key: VerifierKey) -> tuple[str, ...]:
    """Return the words of a key: of the first bytes of SHA-256 of its text."""
    return tuple(WORDS[byte] for byte in sha256(str(key).encode()).digest()[:COUNT])
