#!/bin/sh
# The first start copies the primary, with the primary's address and the password in the copy. Later starts follow it.
set -eu
if [ ! -s "$PGDATA/PG_VERSION" ]; then
  umask 077
  PGPASSWORD=$(cat "${SECRETS:-/run/secrets}/database-standby") pg_basebackup --pgdata "$PGDATA" --no-slot \
    --write-recovery-conf --dbname "host=${PRIMARY:-database} port=${PRIMARY_PORT:-5432} user=standby application_name=standby"
  echo "wal_retrieve_retry_interval = 200ms" >> "$PGDATA/postgresql.conf"
fi
exec docker-entrypoint.sh postgres
