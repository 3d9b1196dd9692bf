#!/bin/sh
# Run once by the image of PostgreSQL, when it has made a new database server.
set -eu
psql --set ON_ERROR_STOP=1 --username "${POSTGRES_USER:-postgres}" --dbname postgres <<'SQL'
\set referee `cat "${SECRETS:-/run/secrets}/database-referee"`
\set standby `cat "${SECRETS:-/run/secrets}/database-standby"`
CREATE ROLE referee LOGIN PASSWORD :'referee';
CREATE ROLE standby LOGIN REPLICATION PASSWORD :'standby';
GRANT pg_monitor TO referee;
CREATE DATABASE club OWNER referee;
-- It counts from the next start on, so this script waits for no standby.
ALTER SYSTEM SET synchronous_standby_names = 'FIRST 1 (standby)';
SQL
echo "host replication standby all scram-sha-256" >> "$PGDATA/pg_hba.conf"
