# Stands in for the image node:26.10.0-trixie-slim: Debian, Node, npm, and the user node.
FROM scratch
ADD debian.tar /
RUN groupadd --gid 1000 node && useradd --uid 1000 --gid node --shell /bin/bash --create-home node
COPY node /usr/local/bin/node
COPY npm /usr/local/lib/node_modules/npm
RUN ln -s ../lib/node_modules/npm/bin/npm-cli.js /usr/local/bin/npm
CMD ["node"]
