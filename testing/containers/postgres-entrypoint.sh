#!/bin/sh
# Stands in for the entry point of the image postgres:18: the first start creates the database, reachable only through
# a Unix socket until it is complete. Then the server runs as the user postgres.
set -eu

sockets=/var/run/postgresql
if [ "$(id -u)" = 0 ]; then
  mkdir -p "$PGDATA"
  chmod 700 "$PGDATA"
  chown -R postgres "$PGDATA"
  chown postgres "$sockets"
  exec setpriv --reuid=postgres --regid=postgres --init-groups "$0" "$@"
fi

if [ ! -s "$PGDATA/PG_VERSION" ]; then
  echo "$POSTGRES_PASSWORD" > /tmp/password
  # The arguments are several words.
  # shellcheck disable=SC2086
  initdb --username="$POSTGRES_USER" --pwfile=/tmp/password $POSTGRES_INITDB_ARGS
  rm /tmp/password
  echo 'host all all all scram-sha-256' >> "$PGDATA/pg_hba.conf"
  echo "unix_socket_directories = '$sockets'" >> "$PGDATA/postgresql.conf"
  pg_ctl --wait --options="-c listen_addresses=''" start
  psql --host="$sockets" --username="$POSTGRES_USER" --dbname=postgres --command="CREATE DATABASE $POSTGRES_DB"
  pg_ctl --wait --mode=fast stop
fi
exec "$@" -c listen_addresses='*'
