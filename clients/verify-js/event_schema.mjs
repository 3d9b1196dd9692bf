// The messages of an event: proto/referee/event/v1/event.proto, as docs/log-format.md lists them.

import { message } from "./wire.mjs";

const Nothing = { name: "Nothing", fields: new Map(), needs: [] };

function eventMoves() {
  const Table = message("Table", `1 uint32 players repeated needed`);
  const GameLog = message("GameLog", `
    1 bytes game_id of 16 needed
    2 uint32 size
    3 bytes root of 32 needed`);
  const Result = message("Result", `
    1 uint32 places repeated needed
    2 sint32 scores repeated
    3 uint32 forfeited repeated
    4 GameLog log`, { GameLog });
  const Enter = message("Enter", `
    1 uint32 number
    2 bytes player of 0,32
    3 bytes key of 0,32
    4 uint32 first_round
    5 uint32 late_points`);
  const CheckIn = message("CheckIn", `
    1 uint32 number
    2 bytes commitment of 0,32`);
  const Forbid = message("Forbid", `
    1 uint32 first
    2 uint32 second
    3 bool hard`);
  const Share = message("Share", `
    1 uint32 number
    2 bytes seed of 32 needed`);
  const Draw = message("Draw", `1 bytes seed of 32 needed`);
  const Plan = message("Plan", `
    1 uint32 round
    2 Table tables repeated`, { Table });
  const Entrant = message("Entrant", `1 uint32 number`);
  const Absence = message("Absence", `
    1 uint32 number
    2 uint32 round`);
  const Expel = message("Expel", `
    1 uint32 number
    2 string reason`);
  const Pair = message("Pair", `
    1 uint32 round
    2 Table tables repeated
    3 uint32 byes repeated
    4 uint32 vector repeated
    5 uint32 bound
    6 enum origin to 5 needed
    7 string engine
    8 string reason
    9 uint32 engine_vector repeated`, { Table });
  const OfRound = message("OfRound", `1 uint32 round`);
  const OpenTable = message("OpenTable", `
    1 uint32 round
    2 uint32 table
    3 bytes game_id of 16 needed`);
  const EnterResult = message("EnterResult", `
    1 uint32 round
    2 uint32 table
    3 Result result needed`, { Result });
  const Amend = message("Amend", `
    1 uint32 round
    2 uint32 table
    3 Result result needed
    4 string reason`, { Result });
  const Award = message("Award", `
    1 uint32 round
    2 uint32 number
    3 uint32 points
    4 string reason`);
  const Void = message("Void", `
    1 uint32 round
    2 uint32 table
    3 string reason`);
  const Reopen = message("Reopen", `
    1 uint32 round
    2 string reason`);
  const CloseRound = message("CloseRound", `
    1 uint32 round
    2 bytes standings of 32 needed`);
  const Close = message("Close", `1 bytes standings of 32 needed`);
  const Abandon = message("Abandon", `1 string reason`);
  const known = { Nothing, Enter, CheckIn, Forbid, Share, Draw, Plan, Entrant, Absence, Expel, Pair, OfRound, OpenTable };
  return message("Move", `
    1 Enter enter in act
    2 CheckIn check_in in act
    3 Forbid forbid in act
    4 Nothing close_entries in act
    5 Share share in act
    6 Draw draw in act
    7 Plan plan in act
    8 Entrant withdraw in act
    9 Entrant readmit in act
    10 Absence absent in act
    11 Expel expel in act
    12 Pair pair in act
    13 OfRound publish in act
    14 OpenTable open_table in act
    15 EnterResult enter_result in act
    16 Amend amend in act
    17 Award award in act
    18 Void void in act
    19 Reopen reopen in act
    20 CloseRound close_round in act
    21 Nothing cut in act
    22 Close close in act
    23 Abandon abandon in act
    needs act`, { ...known, EnterResult, Amend, Award, Void, Reopen, CloseRound, Close, Abandon });
}

function eventTables() {
  const Points = message("Points", `1 uint32 places repeated`);
  return message("Tables", `
    1 string game
    2 uint32 sizes repeated
    3 uint32 rounds
    4 Points points repeated
    5 enum tie_breaks repeated to 7
    6 uint32 bye_points
    7 uint32 late_until
    8 uint32 late_points
    9 bool forfeit_keeps_points
    10 uint32 cut
    11 uint32 cut_size
    12 uint32 cut_advance
    13 bytes commitment of 32 needed`, { Points });
}

export const EVENT_MESSAGES = { file: "referee/event/v1/event.proto", move: eventMoves(), outcome: Nothing, options: Nothing, tables: eventTables() };
