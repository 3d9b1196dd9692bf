"""``check`` against the list of moves, in both directions; hostile events; chance outcomes and their weights."""

from __future__ import annotations

import random
from collections import Counter
from collections.abc import Callable
from functools import partial
from itertools import islice, product
from math import perm
from typing import Any

import pytest

from referee.games.alhambra import GAME, Options, State
from referee.games.alhambra.money import (
    CURRENCY,
    KINDS,
    SCORING_A,
    SCORING_B,
    VALUES,
    Cut,
    scoring_cards_fit,
    weight_of_places,
)
from referee.games.alhambra.moves import (
    Buy,
    Event,
    GiveTile,
    Hand,
    MarketTiles,
    MoneyRow,
    NeutralTiles,
    PlaceTile,
    RebuildAdd,
    RebuildRemove,
    RebuildSwap,
    ReserveTile,
    TakeMoney,
)
from referee.games.alhambra.position import Phase
from referee.games.alhambra.tiles import tiles_of
from referee.games.game import Cell, Chance, Forced, ForcedPass, Over, Pending
from referee.harness import Shuffler
from tests.games import oracle
from tests.games.alhambra_game import CHOICES, options_for, watch
from tests.games.positions import TILE_SET, counts, position
from tests.games.words import kind_of, kinds
from tests.sizes import sample_of

WILD = (-1, -2, 54, 55, 63, 64, 255, 256, -(1 << 40), 1 << 40, -(1 << 200), 1 << 200)


class Hostile:
    """Events that no sane client would send, and some that are nearly right."""

    def __init__(self, rng: random.Random, state: State) -> None:
        self.rng = rng
        self.state = state

    def tile(self) -> int:
        state, rng = self.state, self.rng
        held = [*tiles_of(state.reserves[state.seat]), *tiles_of(state.bought), *tiles_of(state.won[state.seat])]
        return rng.choice([rng.randrange(54), rng.choice(WILD), *(held * 2)])

    def card(self) -> int:
        return self.rng.choice([self.rng.randrange(KINDS), SCORING_A, SCORING_B, self.rng.choice((-1, 38, 39, *WILD))])

    def cards(self) -> tuple[int, ...]:
        state, rng = self.state, self.rng
        hand = [kind for kind in range(KINDS) for _ in range(state.hands[state.seat][kind])]
        pile = rng.choice([state.row, hand, [self.card() for _ in range(5)], list(range(KINDS))])
        cards = rng.sample(pile, rng.randint(0, min(len(pile), 6)))
        if rng.random() < 0.7:
            cards.sort()
        return tuple(cards)

    def cell(self) -> Cell:
        layout, rng = self.state.layouts[self.state.seat], self.rng
        near = oracle.margin({(0, 0), *layout.cells()})
        wild = rng.choice(WILD), rng.choice((0, *WILD))
        cell: Cell = rng.choice([*rng.choices(near, k=3), wild, wild[::-1]])
        return cell

    def tiles(self) -> tuple[int, ...]:
        bag = tiles_of(self.state.bag)
        drawn = self.rng.sample(bag, min(len(bag), self.rng.randint(0, 6)))
        return tuple(drawn) if self.rng.random() < 0.5 else tuple(self.tile() for _ in range(self.rng.randint(0, 6)))

    def seat(self) -> int:
        seats: list[int] = [*range(self.state.seats), -1, 6, 255, 1 << 70]
        return self.rng.choice(seats)

    def payment(self) -> Buy:
        """Cards from the hand, of one currency for the most part."""
        state, rng = self.state, self.rng
        slot = rng.choice((0, 1, 2, 3, 3, 2, 1, 0, -1, 4, 255, 1 << 70))
        currency = state.options.slot_currencies[slot % 4]
        hand = [
            kind
            for kind in range(currency * VALUES, currency * VALUES + VALUES)
            for _ in range(state.hands[state.seat][kind])
        ]
        return Buy(slot, tuple(sorted(rng.sample(hand, rng.randint(0, len(hand))))))

    def event(self) -> Event:
        makers = (
            lambda: TakeMoney(self.cards()),
            self.payment,
            lambda: Buy(self.rng.randrange(-1, 6), self.cards()),
            lambda: RebuildAdd(self.tile(), self.cell()),
            lambda: RebuildRemove(self.cell()),
            lambda: RebuildSwap(self.tile(), self.cell()),
            lambda: PlaceTile(self.tile(), self.cell()),
            lambda: ReserveTile(self.tile()),
            lambda: GiveTile(self.tile()),
            lambda: NeutralTiles(self.tiles()),
            lambda: MarketTiles(self.tiles()),
            lambda: Hand(self.seat(), self.cards()),
            lambda: MoneyRow(self.cards()),
            lambda: ForcedPass(self.seat()),
        )
        event: Event = self.rng.choice(makers)()
        return event


def canonical(state: State, event: Any, listed: set[Any]) -> bool:
    """Return True if the move is listed, or pays more cards than a listed one, or names its cards in another order."""
    match event:
        case TakeMoney(cards):
            return TakeMoney(tuple(sorted(cards))) in listed
        case Buy(slot, payment):
            held = Counter(payment)
            first = state.options.slot_currencies[slot]
            assert {CURRENCY[kind] for kind in payment} == {first}
            return any(isinstance(m, Buy) and m.slot == slot and Counter(m.payment) <= held for m in listed)
    return event in listed


def is_outcome(event: Any) -> bool:
    return isinstance(event, NeutralTiles | MarketTiles | Hand | MoneyRow)


def next_event(state: State, awaited: Pending, dealer: Any, choose: Callable[[], Any]) -> Any:
    """Return what happens next; a move is chosen."""
    match awaited:
        case Chance():
            return dealer.outcome(state)
        case Forced(seat):
            return ForcedPass(seat)
        case _:
            return choose()


@pytest.mark.parametrize(("seats", "choice"), sample_of([(s, c) for s in range(2, 7) for c in CHOICES], 8))
def test_whatever_is_accepted_is_listed_and_nothing_ever_raises(seats: int, choice: str) -> None:
    rng = random.Random(f"hostile {seats} {choice}")
    options = options_for(rng, rng.choice(("default", "currencies")), seats)
    state = GAME.new(seats, Options(options.age_order, 60, slot_currencies=options.slot_currencies))
    dealer = GAME.dealer(seats, state.options, None, Shuffler(rng))
    accepted = refused = 0
    while True:
        (awaited,) = state.pending()
        before = state.digest()
        listed = set(state.legal_moves())
        hostile = Hostile(rng, state)
        for _ in range(40):
            event = hostile.event()
            violations = state.check(event)
            assert all(violation.rule_id.startswith("ALH-") for violation in violations)
            refused += bool(violations)
            if violations:
                assert event not in listed
                continue
            accepted += 1
            if is_outcome(event):
                assert isinstance(awaited, Chance)
            elif isinstance(event, ForcedPass):
                assert awaited == Forced(event.seat)
            else:
                assert canonical(state, event, listed), event
            after = state.copy()
            after.apply(event)
            watch(after)
        assert state.digest() == before
        if isinstance(awaited, Over):
            break
        chosen = partial(CHOICES[choice], rng, state, list(state.legal_moves()))
        state.apply(next_event(state, awaited, dealer, chosen))
    assert accepted > 40
    assert refused > 1_000


@pytest.mark.parametrize("event", [None, "pass", 7, (1, 2), object()])
def test_what_is_no_event_is_not_awaited(event: Any) -> None:
    for state in (
        GAME.new(2),
        position(),
        position(phase=Phase.PLACE, bought=["tower-11"]),
        position(phase=Phase.OVER),
    ):
        assert [violation.rule_id for violation in state.check(event)] == ["ALH-C14"]


def test_a_superset_of_a_payment_is_accepted_and_not_listed() -> None:
    hand = ["dirham-7", "dirham-2", "dirham-1", "dirham-1"]
    state = position(market=("tower-13-E", "pavilion-8", "tower-12", "tower-11"), hands=[hand])
    listed = {move.payment for move in state.legal_moves() if isinstance(move, Buy)}
    assert listed == {kinds("dirham-1", "dirham-7"), kinds("dirham-2", "dirham-7")}
    assert state.check(Buy(1, kinds("dirham-1", "dirham-2", "dirham-7"))) == ()
    state.apply(Buy(1, kinds("dirham-1", "dirham-2", "dirham-7")))
    assert state.phase is Phase.PLACE, "10 for 8 is not exact, though 8 was among the cards"


def test_payments_and_takings_are_those_of_the_oracle() -> None:
    rng = random.Random(5)
    for _ in range(150):
        deck = [f"{c}-{v}" for c in oracle.CURRENCIES for v in range(1, 10) for _ in range(3)]
        rng.shuffle(deck)
        size = rng.choice((0, 3, 8, 20, 30))
        hand, row = deck[:size], sorted(deck[30 : 30 + rng.randint(0, 4)], key=kind_of)
        market = rng.sample(TILE_SET.names, 4)
        state = position(market=market, hands=[hand], row=row)
        moves = list(state.legal_moves())
        own = [(name.split("-")[0], int(name[-1])) for name in hand]
        for slot, tile in enumerate(market):
            currency = oracle.CURRENCIES[slot]
            listed = [tuple(k % VALUES + 1 for k in m.payment) for m in moves if isinstance(m, Buy) and m.slot == slot]
            assert listed == sorted(oracle.payments(own, currency, oracle.cost(tile)))
        lying = [(name.split("-")[0], int(name[-1])) for name in row]
        takings = [kinds(*(f"{c}-{v}" for c, v in choice)) for choice in oracle.takings(lying)]
        assert [m.cards for m in moves if isinstance(m, TakeMoney)] == sorted(takings)


# Chance


def check_outcomes(state: State) -> int:
    """Every outcome listed once and accepted; returns the sum of the weights."""
    outcomes = list(state.chance_outcomes())
    assert len({event for event, _ in outcomes}) == len(outcomes)
    assert all(weight > 0 for _, weight in outcomes)
    for event, _ in outcomes:
        assert state.check(event) == ()
    return sum(weight for _, weight in outcomes)


@pytest.mark.parametrize("bag", [1, 2, 3, 4, 5])
@pytest.mark.parametrize("free", [1, 2, 3, 4])
def test_market_outcomes_are_the_arrangements_of_the_bag(bag: int, free: int) -> None:
    names = [name for name in TILE_SET.names if not name.startswith("tower")][:bag]
    market = ("tower-13-E", "tower-12", "tower-11", "tower-8-NES")[: 4 - free]
    state = position(market=(*market, *[""] * free), phase=Phase.REFILL, bag=names)
    assert check_outcomes(state) == perm(bag, min(bag, free))


def test_neutral_outcomes_are_the_arrangements_of_the_bag() -> None:
    bag = [name for name in TILE_SET.names if name.startswith("garden")][:7]
    state = position(2, phase=Phase.NEUTRAL, bag=bag, scorings=1)
    assert check_outcomes(state) == perm(7, 6)
    state = position(2, phase=Phase.NEUTRAL, bag=bag, scorings=2)
    assert check_outcomes(state) == perm(7, 2)


@pytest.mark.parametrize("missing", [1, 2, 3, 4])
def test_row_outcomes_are_weighted_by_the_orders_of_equal_cards(missing: int) -> None:
    row = ["denar-9", "dirham-9", "ducat-9"][: 4 - missing]
    deck = ["denar-1"] * 3 + ["guilder-2"] * 2 + ["ducat-5"]
    state = position(row=row, phase=Phase.FIRST_ROW, deck=deck, stack=0)
    assert check_outcomes(state) == perm(6, missing)
    one = {event.cards: weight for event, weight in state.chance_outcomes() if isinstance(event, MoneyRow)}
    assert one.get(kinds(*["denar-1"] * missing), 0) == perm(3, missing)


def test_row_outcomes_go_on_with_the_discards() -> None:
    state = position(
        row=["denar-9", "dirham-9"],
        phase=Phase.ROW,
        deck=["ducat-5"],
        discard=["denar-1", "denar-1", "guilder-2"],
        stack=9,
        turned=9,
        a_at=2,
        b_at=5,
    )
    assert check_outcomes(state) == perm(1, 1) * perm(3, 1)
    state.discard = counts([])
    assert list(state.chance_outcomes()) == [(MoneyRow(kinds("ducat-5")), 1)]


def test_hand_outcomes_are_accepted_and_weigh_their_orders() -> None:
    state = GAME.new(2)
    state.apply(NeutralTiles((0, 1, 2, 3, 4, 5)))
    state.apply(MarketTiles((6, 7, 8, 9)))
    state.deck = counts(["denar-9", "denar-9", "denar-8", "ducat-7"])
    # 9 9 8, 9 9 7, 9 8 9 …: three cards reach 20 in every order.
    assert check_outcomes(state) == perm(4, 4)
    # Hands of three and of four cards, weighed in orders of all five.
    state.deck = counts(["denar-9", "denar-9", "denar-2", "ducat-3", "guilder-1"])
    outcomes = {event.cards: weight for event, weight in state.chance_outcomes() if isinstance(event, Hand)}
    assert check_outcomes(state) == perm(5, 5)
    assert outcomes[kinds("denar-9", "denar-9", "denar-2")] == 2 * perm(2, 2)
    assert outcomes[kinds("denar-9", "denar-9", "guilder-1", "denar-2")] == 2
    for event, _ in islice(GAME.new(3).chance_outcomes(), 200):
        assert GAME.new(3).check(event) == ()


def ways(turned: int, a_at: int, b_at: int) -> int:
    """Where the scoring cards can lie in five piles of ten: eleven places each, less those that were passed."""
    in_a = 1 if a_at >= 0 else len(range(max(10, turned), 21))
    in_b = 1 if b_at >= 0 else len(range(max(30, turned), 41))
    return in_a * in_b


@pytest.mark.parametrize(
    ("turned", "a_at", "b_at", "scoring"),
    [
        (0, -1, -1, set()),
        (9, -1, -1, {SCORING_A}),
        (10, -1, -1, {SCORING_A}),
        (15, 12, -1, set()),
        (29, 12, -1, {SCORING_B}),
        (39, 12, -1, {SCORING_B}),
        (41, 12, 33, set()),
    ],
)
def test_scoring_cards_are_among_the_outcomes_where_the_piles_allow(
    turned: int, a_at: int, b_at: int, scoring: set[int]
) -> None:
    """Fifty cards in even piles; two more are turned."""
    deck = ["denar-1", "ducat-1", "ducat-2"]
    state = position(row=["denar-9", "dirham-9"], phase=Phase.ROW, deck=deck, stack=50, cut=Cut.EVEN)
    state.turned, state.a_at, state.b_at = turned, a_at, b_at
    weights = check_outcomes(state)
    assert weights == perm(3, 2) * (ways(turned, a_at, b_at) if b_at < 0 else 1)
    turned_up = [event.cards for event, _ in state.chance_outcomes() if isinstance(event, MoneyRow)]
    assert {kind for cards in turned_up for kind in cards if kind >= KINDS} == scoring
    # Were B below the next two cards, it would lie below the fourth pile.
    if turned == 39:
        assert all(SCORING_B in cards for cards in turned_up)


def test_outcomes_and_check_agree_on_every_row_of_a_small_deck() -> None:
    """All rows of up to four cards, scoring cards among them: what check accepts is what is listed."""
    for turned, a_at in ((9, -1), (10, -1), (19, -1), (20, -1), (19, 12)):
        state = position(row=["denar-9", "dirham-9"], phase=Phase.ROW, deck=["denar-1", "ducat-1", "ducat-1"], stack=50)
        state.turned, state.a_at = turned, a_at
        listed = {event for event, _ in state.chance_outcomes()}
        cards = (*kinds("denar-1", "ducat-1", "ducat-2"), SCORING_A, SCORING_B)
        rows = [MoneyRow(row) for n in range(5) for row in product(cards, repeat=n)]
        assert {row for row in rows if not state.check(row)} == listed


def test_where_scoring_cards_may_lie_is_what_the_piles_allow() -> None:
    """Every split into piles that differ by one card at most, and every place in the second and the fourth."""
    for cards in range(5, 24):
        allowed = set()
        base, extra = divmod(cards, 5)
        for larger in range(32):
            sizes = [base + (larger >> pile & 1) for pile in range(5)]
            if sum(sizes) != cards:
                continue
            assert larger.bit_count() == extra
            allowed |= {(sizes[0] + a, sum(sizes[:3]) + b) for a in range(sizes[1] + 1) for b in range(sizes[3] + 1)}
        for a in range(cards + 1):
            for b in range(cards + 1):
                assert scoring_cards_fit(Cut.EVEN, cards, cards, a, b) is ((a, b) in allowed)
            # While B has not come: there is a place for it below the cards that were turned.
            for turned in range(a, cards + 1):
                still = any((a, b) in allowed for b in range(turned, cards + 1))
                assert scoring_cards_fit(Cut.EVEN, cards, turned, a, -1) is still
        for turned in range(cards + 1):
            still = any(a >= turned for a, _ in allowed)
            assert scoring_cards_fit(Cut.EVEN, cards, turned, -1, -1) is still


def test_any_five_piles_are_as_good_in_the_second_version() -> None:
    """Every split into five piles of at least one card, and every place in the second and the fourth."""
    for cards in range(5, 16):
        splits = [sizes for sizes in product(range(1, cards - 3), repeat=4) if sum(sizes) < cards]
        allowed = {
            (sizes[0] + a, sum(sizes[:3]) + b)
            for sizes in splits
            for a in range(sizes[1] + 1)
            for b in range(sizes[3] + 1)
        }
        for a, b in product(range(cards + 1), repeat=2):
            assert scoring_cards_fit(Cut.ANY, cards, cards, a, b) is ((a, b) in allowed)
        for turned in range(cards + 1):
            for a in range(turned + 1):
                still = any((a, b) in allowed for b in range(turned, cards + 1))
                assert scoring_cards_fit(Cut.ANY, cards, turned, a, -1) is still
            still = any(a >= turned for a, _ in allowed)
            assert scoring_cards_fit(Cut.ANY, cards, turned, -1, -1) is still


def test_an_uneven_cut_is_possible_and_very_rare() -> None:
    """The outcomes of an even cut have the likelihoods that they have there; all others together are almost nothing."""
    cards, places = 90, range(91)
    even = {at: weight_of_places(Cut.EVEN, cards, cards, *at) for at in product(places, repeat=2)}
    ours = {at: weight_of_places(Cut.ANY, cards, cards, *at) for at in product(places, repeat=2)}
    fits = {at for at in ours if scoring_cards_fit(Cut.ANY, cards, cards, *at)}
    assert {at for at, weight in ours.items() if weight} == fits > {at for at, weight in even.items() if weight}
    share = sum(ours.values()) / sum(even.values())
    assert all(abs(ours[at] / share - weight) < weight / 1000 for at, weight in even.items() if weight)
    assert sum(ours[at] for at in fits if not even[at]) * 1000 < sum(ours.values())


@pytest.mark.parametrize(("version", "is_refused"), [(1, True), (2, False)])
def test_piles_that_were_cut_by_eye(version: int, is_refused: bool) -> None:
    """Piles of 15, 21, 18, 18 and 18 cards: A came after 16, two cards before equal piles could bring it."""
    state = position(row=["denar-9"] * 3, phase=Phase.ROW, deck=["ducat-1"] * 74, stack=90, turned=16)
    state.cut = Cut(version)
    event = MoneyRow((SCORING_A, *kinds("ducat-1")))
    violations = state.check(event)
    assert [violation.rule_id for violation in violations] == ["ALH-F3"] * is_refused
    assert state.comments() == ()
    if not is_refused:
        state.apply(event)
        (comment,) = state.comments()
        came = "scoring card A came after 16 of them; 17 of them are turned"
        assert comment == f"the 90 money cards were not cut into five equal piles (ALH-F3): {came}"


def test_the_dealer_puts_the_scoring_cards_where_the_piles_allow() -> None:
    """Every place of the second and the fourth pile comes up, and no other."""
    places_a, places_b = set(), set()
    for game in range(400):
        dealer = GAME.dealer(2, None, None, Shuffler(random.Random(game)))
        state = GAME.new(2)
        while state.phase is not Phase.ACTION:
            state.apply(dealer.outcome(state))
        pile = dealer._money[::-1]
        cards = [kind for kind in pile if kind < KINDS]
        assert len(cards) == state.stack == sum(state.deck)
        share, extra = divmod(len(cards), 5)
        sizes = [share + (i < extra) for i in range(5)]
        a = pile.index(SCORING_A) - sizes[0]
        b = pile.index(SCORING_B) - 1 - sum(sizes[:3])
        assert 0 <= a <= sizes[1]
        assert 0 <= b <= sizes[3]
        places_a.add(sizes[1] - a)
        places_b.add(sizes[3] - b)
    assert places_a >= set(range(10))
    assert places_b >= set(range(10))
