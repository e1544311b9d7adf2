// Recognises this machine by the host in a URL or a setting.

import ipaddr from 'ipaddr.js';

/** True for localhost, a name below it, and a loopback address, with or without the brackets of a URL. */
export function isLocalHost(host: string): boolean {
  const address = host.replace(/^\[(.*)\]$/, '$1');
  if (ipaddr.isValid(address)) return ipaddr.process(address).range() === 'loopback';
  return /^(.+\.)?localhost$/.test(host);
}
