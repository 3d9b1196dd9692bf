"""The drawings of a kingdom: a landscape for each terrain and the castle in boxes of 100 by 100, and a crown."""

from __future__ import annotations

from typing import Final

_WHEAT: Final = """\
<rect width="100" height="100" fill="url(#kdo-ground-wheat)"/>
<path d="M0 30q25-9 50 0t50 0M0 62q25-9 50 0t50 0M0 94q25-9 50 0t50 0" fill="none" stroke="#c98f1c" \
stroke-width="3" stroke-opacity=".55"/>
<g id="kdo-ear"><path d="M24 88V52" stroke="#9a6a10" stroke-width="2.5"/>\
<path d="M24 56c-7-3-9-8-8-12 5 1 8 5 8 12zM24 56c7-3 9-8 8-12-5 1-8 5-8 12zM24 46c-7-3-9-8-8-12 5 1 8 5 8 12z\
M24 46c7-3 9-8 8-12-5 1-8 5-8 12zM24 37c-4-4-4-10 0-15 4 5 4 11 0 15z" fill="#fff0a8" stroke="#a8740f" \
stroke-width="1.2"/></g>
<use href="#kdo-ear" x="26" y="6"/><use href="#kdo-ear" x="52"/>"""

_FOREST: Final = """\
<rect width="100" height="100" fill="url(#kdo-ground-forest)"/>
<g id="kdo-fir"><path d="M26 80v10" stroke="#4a2f17" stroke-width="5"/>\
<path d="M26 26l11 20h-5l9 17h-6l10 19H7l10-19h-6l9-17h-5z" fill="#1b5230"/>\
<path d="M26 26v56H7l10-19h-6l9-17h-5z" fill="#2f7a44"/></g>
<use href="#kdo-fir" x="46" y="-8"/><use href="#kdo-fir" x="22" y="6"/>"""

_LAKE: Final = """\
<rect width="100" height="100" fill="url(#kdo-ground-lake)"/>
<path d="M6 34q8-8 16 0t16 0 16 0M46 52q8-8 16 0t16 0 16 0M8 72q8-8 16 0t16 0 16 0M54 86q8-8 16 0t16 0" fill="none" \
stroke="#dff3ff" stroke-width="3.5" stroke-linecap="round" stroke-opacity=".85"/>
<path d="M58 37h30l-6 9H64z" fill="#7a4a22"/><path d="M74 35V14l12 19zM71 35V19l-9 14z" fill="#fffaf0"/>"""

_MEADOW: Final = """\
<rect width="100" height="100" fill="url(#kdo-ground-meadow)"/>
<path d="M12 42q1-8-3-12 6 3 6 12 0-8 5-11-3 5-2 11zM68 32q1-8-3-12 6 3 6 12 0-8 5-11-3 5-2 11zM76 88q1-8-3-12 6 3 \
6 12 0-8 5-11-3 5-2 11zM12 84q1-8-3-12 6 3 6 12 0-8 5-11-3 5-2 11z" fill="#4f8a2a"/>
<path d="M36 62v13M44 63v13M58 63v13M65 62v13" stroke="#3a332c" stroke-width="3.5" stroke-linecap="round"/>
<path d="M32 62c-6-2-6-11 0-13 0-7 9-10 13-5 4-6 13-5 15 0 7-2 12 4 9 10 4 5 0 11-6 10-3 5-11 5-14 1-4 4-12 3-17-3z" \
fill="#fffdf6" stroke="#8d877a" stroke-width="1.5"/>
<path d="M67 46c6-4 13-1 13 4s-4 9-9 8-7-8-4-12z" fill="#3a332c"/>"""

_SWAMP: Final = """\
<rect width="100" height="100" fill="url(#kdo-ground-swamp)"/>
<ellipse cx="40" cy="78" rx="30" ry="9" fill="#4c5340"/><ellipse cx="68" cy="52" rx="24" ry="7" fill="#4c5340"/>
<path d="M28 79q8-4 16 0M58 53q8-4 16 0" fill="none" stroke="#a9b59a" stroke-width="2"/>
<path d="M22 76V40M30 78V50M78 50V22M86 52V32" stroke="#3c4a22" stroke-width="3"/>
<path d="M22 44V28M30 54V40M78 28V12M86 37V23" stroke="#5b3417" stroke-width="7" stroke-linecap="round"/>
<path d="M34 76q8-18 18-22-6 10-14 22zM74 50q-8-16-18-20 8 6 14 20z" fill="#5f7a35"/>"""

_MINE: Final = """\
<rect width="100" height="100" fill="url(#kdo-ground-mine)"/>
<path d="M4 92L24 48l12 8 16-32 20 26 10-6 16 48z" fill="#2f2723"/>
<path d="M52 24l20 26-14 8zM24 48l12 8-8 12z" fill="#6a5a50"/>
<path d="M42 92V76c0-14 20-14 20 0v16z" fill="#0f0b09"/><path d="M42 92V76c0-14 20-14 20 0v16" fill="none" \
stroke="#8a5a2c" stroke-width="4"/>
<g fill="#f6c945" stroke="#9b6a0a" stroke-width="1"><path d="M20 78l6-4 5 5-3 6h-7zM72 72l5-5 6 3-1 7-8 1z\
M76 88l4-3 5 3-2 4h-6z"/></g>"""

_CASTLE: Final = """\
<rect width="100" height="100" fill="#e9dcc0"/>
<path d="M18 88V44h-5V30h8v6h7v-6h8v6h5V24h-5V10h6v6h5v-6h6v6h5v-6h6v14h-5v12h5v-6h8v6h7v-6h8v14h-5v44z" \
fill="#8c8378" stroke="#4a433c" stroke-width="2" stroke-linejoin="round"/>
<path d="M41 36h18v52H41z" fill="#a59c90"/><path d="M43 88V70c0-10 14-10 14 0v18z" fill="#3a2a1c"/>
<path d="M47 44h6v11h-6zM26 54h5v10h-5zM69 54h5v10h-5z" fill="#3a2f26"/>
<path d="M50 10V-2l15 5-15 5" fill="#b3282d" stroke="#6e1512" stroke-width="1" transform="translate(0 4)"/>
<path d="M10 88h80v5H10z" fill="#6b6258"/>"""

_CROWN: Final = """\
<path d="M3 21L1 6l7 6 5-10 5 10 7-6-2 15z" fill="#ffd54a" stroke="#6b4405" stroke-width="1.6" \
stroke-linejoin="round"/><path d="M4 18h18" stroke="#b5790a" stroke-width="1.6"/>\
<circle cx="13" cy="14.5" r="2" fill="#c0392b"/>"""

GROUNDS: Final = {
    "wheat": ("#f8dd74", "#e8b93a"),
    "forest": ("#5fa463", "#2f6d3c"),
    "lake": ("#7cc3ea", "#2c7fc0"),
    "meadow": ("#c9e58a", "#93c452"),
    "swamp": ("#a79f78", "#6f6b4b"),
    "mine": ("#8b7567", "#54453b"),
}
"""Colours of each terrain, from top to bottom."""

_DRAWINGS: Final = {
    **dict(zip(GROUNDS, (_WHEAT, _FOREST, _LAKE, _MEADOW, _SWAMP, _MINE), strict=True)),
    "castle": _CASTLE,
}


def definitions() -> str:
    """Return definitions: each terrain's ``kdo-wheat``, ``kdo-castle``, ``kdo-crown``, and the shapes of dominoes."""
    grounds = "".join(
        f'<linearGradient id="kdo-ground-{terrain}" x1="0" y1="0" x2="0" y2="1">'
        f'<stop stop-color="{light}"/><stop offset="1" stop-color="{deep}"/></linearGradient>\n'
        for terrain, (light, deep) in GROUNDS.items()
    )
    symbols = "".join(
        f'<symbol id="kdo-{name}" viewBox="0 0 100 100">{drawing}</symbol>\n' for name, drawing in _DRAWINGS.items()
    )
    crown = f'<symbol id="kdo-crown" viewBox="0 0 26 24">{_CROWN}</symbol>\n'
    shapes = "".join(
        f'<clipPath id="kdo-{shape}"><rect x="2" y="2" width="{width}" height="{height}" rx="11"/></clipPath>\n'
        for shape, width, height in (("across", 196, 96), ("down", 96, 196))
    )
    return f"<defs>\n{grounds}{symbols}{crown}{shapes}</defs>"
