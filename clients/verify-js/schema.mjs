// The field lists of what is signed: proto/referee/log/v1/log.proto and the three games' messages.

import { message } from "./wire.mjs";

const Seat = message("Seat", `
  1 bytes player of 0,32
  2 bool scribed`);
const PerMove = message("PerMove", `1 uint32 move_ms`);
const Increment = message("Increment", `
  1 uint32 base_ms
  2 uint32 increment_ms`);
const Delay = message("Delay", `
  1 uint32 base_ms
  2 uint32 delay_ms`);
const Correspondence = message("Correspondence", `1 uint32 days`);
const ClockTerms = message("ClockTerms", `
  1 PerMove per_move in control
  2 Increment increment in control
  3 Delay delay in control
  4 Correspondence correspondence in control
  5 uint32 lag_ms`, { PerMove, Increment, Delay, Correspondence });
const Terms = message("Terms", `
  1 enum illegal_moves to 1
  2 enum proofs to 2
  3 uint32 table_rules
  4 ClockTerms clock
  5 uint32 strikes
  6 uint32 penalty_ms
  7 uint32 absence_ms
  8 bool take_backs
  9 uint32 protest_ms
  10 uint32 grace_ms optional`, { ClockTerms });
const Dealt = message("Dealt", `1 bytes commitment of 32 needed`);
const Declared = message("Declared", `1 uint32 scribe optional needed`);
const Series = message("Series", `
  1 bytes id of 16 needed
  2 uint32 index optional needed
  3 bytes previous_head of 0,32`);

export const GameOpen = message("GameOpen", `
  1 uint32 format_version needed
  2 string rules_id id needed
  3 uint32 rules_version needed
  4 bytes options
  5 bytes tables needed
  6 Seat seats repeated needed
  7 Terms terms
  8 Dealt dealt in chance
  9 Declared declared in chance
  10 bytes arbiter_keys repeated of 32
  11 bytes scribe_keys repeated of 32
  12 bytes header_hash of 32 needed
  13 bytes nonce of 16 needed
  14 uint64 event_id optional
  15 uint32 round optional
  16 uint32 table optional
  17 Series series
  needs chance`, { Seat, Terms, Dealt, Declared, Series });

const Restore = message("Restore", `1 uint32 to_seq`);
const Adjudicate = message("Adjudicate", `
  1 sint32 scores repeated
  2 uint32 places repeated`);
const Empty = { name: "Empty", fields: new Map(), needs: [] };
const Join = message("Join", `
  1 bytes key of 32 needed
  2 bytes commitment of 0,32`);
const Reveal = message("Reveal", `1 bytes seed of 32 needed`);
const Resign = message("Resign", `1 uint32 seat optional`);
const ToEntry = message("ToEntry", `
  1 uint32 to_seq
  2 uint32 seat optional`);
const Dispute = message("Dispute", `
  1 uint32 against_seq
  2 string rule_id
  3 uint32 seat optional
  4 bytes remark of 0,32`);
const SetClock = message("SetClock", `
  1 uint32 seat optional
  2 uint32 left_ms`);
const Penalty = message("Penalty", `
  1 uint32 seat optional
  2 uint32 time_ms
  3 uint32 points
  4 uint32 strikes`);
const Forfeit = message("Forfeit", `
  1 uint32 seat optional
  2 enum ending to 11`);
const NamedSeat = message("NamedSeat", `1 uint32 seat optional`);
const Accept = message("Accept", `
  1 uint32 seat optional
  2 bytes move
  3 string rule_ids repeated`);
const Rule = message("Rule", `
  1 Restore restore in ruling
  2 Adjudicate adjudicate in ruling
  3 Empty void in ruling
  4 string rule_id
  5 uint32 decides optional
  6 bytes remark of 0,32
  8 Empty pause in ruling
  9 Empty resume in ruling
  10 Empty adjourn in ruling
  11 SetClock set_clock in ruling
  12 Penalty penalty in ruling
  13 Forfeit forfeit in ruling
  14 NamedSeat reinstate in ruling
  15 NamedSeat skip in ruling
  16 Accept accept in ruling
  17 Empty dismiss in ruling
  needs ruling`, { Restore, Adjudicate, Empty, SetClock, Penalty, Forfeit, NamedSeat, Accept });
const ChangeKey = message("ChangeKey", `
  1 uint32 seat optional
  2 bytes key`);

export const Intent = message("Intent", `
  1 bytes game_id of 16 needed
  2 uint32 seq
  3 bytes prev of 32 needed
  4 uint32 seat in author
  5 uint32 scribe in author
  6 uint32 arbiter in author
  8 Join join in act
  9 Reveal reveal in act
  10 bytes move in act
  11 bytes declare in act
  12 Resign resign in act
  13 ToEntry consent in act
  14 Dispute protest in act
  15 Rule rule in act
  16 ChangeKey change_key in act
  17 ToEntry take_back in act
  18 Restore correct in act
  19 Dispute appeal in act
  needs author act`, { Join, Reveal, Resign, ToEntry, Dispute, Rule, ChangeKey, Restore });

const Signed = message("Signed", `
  1 bytes intent needed
  2 bytes signature of 64 needed
  3 bytes key_id of 8 needed`);
const Refused = message("Refused", `
  1 bytes intent needed
  2 bytes signature of 64 needed
  3 bytes key_id of 8 needed
  4 string rule_ids repeated id`);
const Chance = message("Chance", `1 bytes outcome needed`);
const OfSeat = message("OfSeat", `1 uint32 seat optional needed`);
const GameEnd = message("GameEnd", `
  1 enum ending to 11 needed
  2 sint32 scores repeated
  3 uint32 places repeated`);
const SeedDisclose = message("SeedDisclose", `1 bytes seed of 32 needed`);
const Recovered = message("Recovered", `
  1 uint32 lost_size
  2 bytes lost_root of 32
  3 uint64 copied_ms
  4 uint64 declared_ms`);

const Interrupted = message("Interrupted", `1 uint64 alive_ms`);
const Absent = message("Absent", `
  1 uint32 seat optional needed
  2 uint64 since_ms`);
const StandIn = message("StandIn", `
  1 uint32 seat optional needed
  2 bytes move`);

export const Entry = message("Entry", `
  1 bytes game_id of 16 needed
  2 uint32 seq
  3 bytes prev of 32 needed
  4 uint64 referee_ms
  5 uint32 charged_ms
  6 uint32 lag_ms
  7 uint32 overhead_ms
  8 bytes state_digest of 32 needed
  9 bytes open in event
  10 Signed signed in event
  11 Chance chance in event
  12 Refused refused in event
  13 OfSeat timeout in event
  14 OfSeat forced_pass in event
  15 GameEnd end in event
  16 SeedDisclose disclose in event
  17 Recovered recovered in event
  18 Interrupted interrupted in event
  19 Absent absent in event
  20 StandIn stand_in in event
  needs event`, { Signed, Chance, Refused, OfSeat, GameEnd, SeedDisclose, Recovered, Interrupted, Absent, StandIn });

export const Header = message("Header", `
  1 bytes descriptors
  2 string rules_id id needed
  3 uint32 rules_version
  4 bytes rules_hash of 32 needed
  5 string producer`);

export const End = message("End", `
  1 uint32 count needed
  2 bytes frames_hash of 32 needed`);

/** The messages of one game, by version of its rules: all versions have the same. */
const game = (id, versions, move, outcome, options, tables) => {
  const messages = { file: `referee/${id}/v1/${id}.proto`, move, outcome, options, tables };
  return Object.fromEntries(versions.map((version) => [version, messages]));
};

function alhambra() {
  const Cell = message("Cell", `
    1 sint32 x optional needed
    2 sint32 y optional needed`);
  const Card = message("Card", `
    1 enum currency to 4 needed
    2 uint32 value needed`);
  const TakeMoney = message("TakeMoney", `1 Card cards repeated`, { Card });
  const Buy = message("Buy", `
    1 uint32 slot needed
    2 Card payment repeated`, { Card });
  const TileAndCell = message("TileAndCell", `
    1 string tile needed
    2 Cell cell needed`, { Cell });
  const AtCell = message("AtCell", `1 Cell cell needed`, { Cell });
  const OfTile = message("OfTile", `1 string tile needed`);
  const Tiles = message("Tiles", `1 string tiles repeated`);
  const Hand = message("Hand", `
    1 uint32 seat optional needed
    2 Card cards repeated`, { Card });
  const TurnedCard = message("TurnedCard", `
    1 Card money in card
    2 enum scoring in card to 2
    needs card`, { Card });
  const MoneyRow = message("MoneyRow", `1 TurnedCard cards repeated`, { TurnedCard });
  const Move = message("Move", `
    1 TakeMoney take_money in move
    2 Buy buy in move
    3 TileAndCell rebuild_add in move
    4 AtCell rebuild_remove in move
    5 TileAndCell rebuild_swap in move
    6 TileAndCell place_tile in move
    7 OfTile reserve_tile in move
    8 OfTile give_tile in move
    needs move`, { TakeMoney, Buy, TileAndCell, AtCell, OfTile });
  const Outcome = message("Outcome", `
    1 Tiles neutral_tiles in outcome
    2 Tiles market_tiles in outcome
    3 Hand hand in outcome
    4 MoneyRow money_row in outcome
    needs outcome`, { Tiles, Hand, MoneyRow });
  const Options = message("Options", `
    1 uint32 age_order repeated
    2 uint32 max_turns optional
    3 enum loop_rule to 1
    4 enum end_rule to 1
    5 enum slot_currencies repeated to 4`);
  return game("alhambra", [1, 2], Move, Outcome, Options, Tiles);
}

function kingdomino() {
  const PlaceCastle = message("PlaceCastle", `
    1 uint32 column optional needed
    2 uint32 row optional needed`);
  const OfDomino = message("OfDomino", `1 uint32 domino needed`);
  const Cell = message("Cell", `
    1 sint32 x optional needed
    2 sint32 y optional needed`);
  const PlaceDomino = message("PlaceDomino", `
    1 uint32 domino needed
    2 Cell left needed
    3 Cell right needed`, { Cell });
  const Numbers = message("Numbers", `1 uint32 numbers repeated`);
  const Half = message("Half", `
    1 enum terrain to 6
    2 uint32 crowns`);
  const Domino = message("Domino", `
    1 uint32 number
    2 Half left
    3 Half right`, { Half });
  const Move = message("Move", `
    1 PlaceCastle place_castle in move
    2 OfDomino choose_domino in move
    3 PlaceDomino place_domino in move
    4 OfDomino discard_domino in move
    needs move`, { PlaceCastle, OfDomino, PlaceDomino });
  const Outcome = message("Outcome", `
    1 Numbers first_order in outcome
    2 Numbers line in outcome
    needs outcome`, { Numbers });
  const Options = message("Options", `
    1 enum frame to 1
    2 enum first_order to 1
    3 uint32 declared_order repeated
    4 enum central to 2
    5 bool harmony
    6 bool mighty_duel
    7 bool wider_offer
    8 bool dynasty`);
  const Tables = message("Tables", `1 Domino dominoes repeated`, { Domino });
  return game("kingdomino", [1], Move, Outcome, Options, Tables);
}

function rollwrite() {
  const ChangeDice = message("ChangeDice", `
    1 uint32 blue repeated
    2 uint32 yellow repeated`);
  const Pair = message("Pair", `
    1 uint32 blue needed
    2 uint32 yellow needed`);
  const OfSeat = message("OfSeat", `1 uint32 seat optional needed`);
  const Rolls = message("Rolls", `
    1 uint32 of optional needed
    2 Pair rolls repeated`, { Pair });
  const Dice = message("Dice", `1 Pair rolls repeated`, { Pair });
  const Move = message("Move", `
    1 ChangeDice change_dice in move
    2 Pair build in move
    3 Empty get_coins in move
    4 Empty build_second in move
    5 Empty end_building in move
    6 Pair keep_pair in move
    needs move`, { ChangeDice, Pair, Empty });
  const Outcome = message("Outcome", `
    1 OfSeat start_seat in outcome
    2 Rolls start_buildings in outcome
    3 Rolls start_dice in outcome
    4 Dice dice in outcome
    5 Rolls virtual_buildings in outcome
    needs outcome`, { OfSeat, Rolls, Dice });
  const Options = message("Options", `
    1 uint32 start_seat optional
    2 uint32 virtual_players optional
    3 enum solo to 1`);
  const Tables = message("Tables", `
    1 string sheet
    2 enum grid repeated to 6
    3 uint32 boxes repeated
    4 uint32 coin_track
    5 enum rows_are to 2`);
  return game("rollwrite", [1], Move, Outcome, Options, Tables);
}

/** Of a frame 0x81. What is in the certificate is its game's. */
export const Proof = message("Proof", `
  1 uint64 seq
  2 bytes leaf of 32 needed
  3 bytes certificate`);

/** Of a frame 0x82. */
export const Remark = message("Remark", `
  1 uint64 seq
  2 bytes salt
  3 string text`);

/** By rules id and version: the game's proto file, and its messages Move, Outcome, Options and Tables. */
export const GAMES = { alhambra: alhambra(), kingdomino: kingdomino(), rollwrite: rollwrite() };
