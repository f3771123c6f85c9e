/** @module URLs that lead to a forbidden address, openly or disguised. */
const FORBIDDEN_V4 = [
  ...['0.0.0.0', '0.255.255.255', '10.0.0.1', '10.255.255.255', '100.64.0.1', '100.127.255.254', '127.0.0.1'],
  ...['127.255.255.254', '169.254.0.1', '169.254.169.254', '169.254.170.2', '172.16.0.1', '172.31.255.255'],
  ...['192.0.0.1', '192.0.0.192', '192.0.2.1', '192.31.196.1', '192.52.193.1', '192.88.99.1', '192.168.0.1'],
  ...['192.168.255.255', '192.175.48.1', '198.18.0.1', '198.19.255.255', '198.51.100.1', '203.0.113.1'],
  ...['224.0.0.1', '239.255.255.255', '240.0.0.1', '255.255.255.255'],
];

const FORBIDDEN_V6 = [
  ...[
    '::',
    '::1',
    '::127.0.0.1',
    '::ffff:127.0.0.1',
    '::ffff:7f00:1',
    '0:0:0:0:0:ffff:a00:1',
    '::ffff:169.254.169.254',
  ],
  ...['::ffff:8.8.8.8', '::ffff:0:127.0.0.1', '64:ff9b::7f00:1', '64:ff9b::8.8.8.8', '64:ff9b:1::1', '100::1'],
  ...['2001::1', '2001:2::1', '2001:3::1', '2001:4:112::1', '2001:10::1', '2001:20::1', '2001:30::1', '2001:db8::1'],
  ...['2002:7f00:1::', '2002:a00:1::1', '2620:4f:8000::1', '3fff::1', '4000::1', '5f00::1', 'fc00::1', 'fd00:ec2::254'],
  ...['fe80::1', 'febf::1', 'fec0::1', 'ff02::1', 'ff0e::1'],
];

const octets = (address: string): number[] => address.split('.').map(Number);
const asNumber = (address: string): number => octets(address).reduce((sum, octet) => sum * 256 + octet, 0);
const each = (address: string, write: (octet: number) => string): string => octets(address).map(write).join('.');

/** The notations of an IPv4 address that URL parsers accept. */
const WAYS: readonly ((address: string) => string)[] = [
  (address) => address,
  (address) => `${address}.`,
  (address) => String(asNumber(address)),
  (address) => `0x${asNumber(address).toString(16)}`,
  (address) => each(address, (octet) => `0x${octet.toString(16)}`),
  (address) => each(address, (octet) => `0${octet.toString(8)}`),
  (address) => `${octets(address)[0]}.${asNumber(address) % 2 ** 24}`,
  (address) => address.replaceAll(/\d/g, (digit) => String.fromCodePoint(0xff10 + Number(digit))),
  (address) => address.replaceAll(/\d/g, (digit) => `%3${digit}`),
];

const NOT_HTTPS = ['http', 'ftp', 'file', 'gopher', 'ws', 'wss', 'ldap', 'data', 'javascript', 'blob'];

/** URLs refused without a DNS query. */
export const HOSTILE_URLS: readonly string[] = [
  ...FORBIDDEN_V4.flatMap((address) => WAYS.map((way) => `https://${way(address)}/in`)),
  ...FORBIDDEN_V6.flatMap((address) => [`https://[${address}]/in`, `https://[${address.toUpperCase()}]:8443/in`]),
  ...['user@', 'user:password@', ':password@', 'hooks.example%2F@'].flatMap((credentials) => [
    `https://${credentials}hooks.example/in`,
    `https://${credentials}93.184.215.14/in`,
  ]),
  ...NOT_HTTPS.flatMap((scheme) => [`${scheme}://hooks.example/in`, `${scheme}://93.184.215.14/in`]),
  ...['', ' ', '//hooks.example', 'hooks.example/in', 'https://', 'https://[fe80::1%25eth0]/'],
];

/** Forbidden results of a name's DNS lookup. One forbidden address among public addresses causes a refusal. */
export const FORBIDDEN_ADDRESSES: readonly string[] = [
  ...FORBIDDEN_V4,
  ...FORBIDDEN_V6,
  'fe80::1%eth0',
  'not an address',
];
