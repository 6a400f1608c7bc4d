#!/usr/bin/env bash
# Backs up the database of the catalog, and restores it.
#
# usage: infra/backup.sh dump FILE
#        infra/backup.sh restore FILE     replaces the tables of the database
#        infra/backup.sh rehearse FILE    restores into an empty database, and fails if that has no book
#
# The database is that of DATABASE_URL_DIRECT, not of a pooler; for a rehearsal, one that may be thrown away. Needs the client programs of
# PostgreSQL, of the server's version or a newer one.
set -euo pipefail

usage() {
  sed -n 's/^# \{0,1\}//; 3,6p' "$0" >&2
  exit 2
}

restore() {
  pg_restore --clean --if-exists --no-owner --no-privileges --single-transaction --exit-on-error --dbname="$DATABASE_URL_DIRECT" "$1"
}

ask() {
  psql --no-psqlrc --quiet --no-align --tuples-only --set=ON_ERROR_STOP=1 --dbname="$DATABASE_URL_DIRECT" --command="$1"
}

[ $# -eq 2 ] || usage
file=$2
: "${DATABASE_URL_DIRECT:?is not set}"
case $1 in
  dump)
    # A dump that breaks off is not taken for one. Owners and rights are the new database's: `prepare` grants readers theirs.
    pg_dump --format=custom --no-owner --no-privileges --file="$file.part" "$DATABASE_URL_DIRECT"
    mv "$file.part" "$file"
    ;;
  restore) restore "$file" ;;
  rehearse)
    if [ "$(ask "SELECT count(*) FROM pg_tables WHERE schemaname = current_schema()")" != 0 ]; then
      echo "error: the database has tables; a rehearsal needs an empty one" >&2
      exit 1
    fi
    restore "$file"
    for table in documents document_chunks chat_queries conversations; do
      echo "$table: $(ask "SELECT count(*) FROM $table")"
    done
    if [ "$(ask "SELECT count(*) FROM document_chunks JOIN indexes USING (index_id) WHERE state = 'live'")" = 0 ]; then
      echo "error: the backup has no chunk of a live index" >&2
      exit 1
    fi
    ;;
  *) usage ;;
esac
