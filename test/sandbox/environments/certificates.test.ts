import { readFileSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { expect, test } from 'vitest';

import {
  copyCertificates,
  hostGrant,
  npmSettings,
  pipSettings,
} from '../../../src/sandbox/environments/index-settings.ts';
import { CERTIFICATE, KEY } from '../../project/network/certificate.ts';
import { scratch } from '../../skills/registry/support.ts';

const ALONE = { npm_config_globalconfig: '/nonexistent' };

test('certificates of pip and uv come from every setting that pip reads', () => {
  const home = scratch();
  writeFileSync(path.join(home, 'pip.conf'), '[global]\ncert = /conf.pem\n');
  const env = { PIP_CONFIG_FILE: path.join(home, 'pip.conf'), PIP_CERT: '/pip.pem', SSL_CERT_FILE: '/ssl.pem' };
  expect(pipSettings({ env, home }).certificates).toEqual([
    { setting: 'PIP_CERT', file: '/pip.pem' },
    { setting: 'SSL_CERT_FILE', file: '/ssl.pem' },
    { setting: 'cert in pip.conf', file: '/conf.pem' },
  ]);
});

test('certificates of npm come from cafile, ca and NODE_EXTRA_CA_CERTS', () => {
  const home = scratch();
  writeFileSync(path.join(home, '.npmrc'), 'cafile="~/own.pem"\nca[]="-----BEGIN ${NAME}"\nsave=true\n');
  const env = { ...ALONE, NODE_EXTRA_CA_CERTS: '/extra.pem', NAME: 'X' };
  expect(npmSettings({ env, home })).toEqual({
    certificates: [{ setting: 'cafile in .npmrc', file: `${home}/own.pem` }],
    extraCertificates: [{ setting: 'NODE_EXTRA_CA_CERTS', file: '/extra.pem' }],
    lines: ['ca[]="-----BEGIN X"'],
  });
  expect(npmSettings({ env: { ...ALONE, npm_config_cafile: '/mine.pem' }, home }).certificates).toEqual([
    { setting: 'npm_config_cafile', file: '/mine.pem' },
  ]);
});

test('only certificates are copied into the sandbox, never a key beside them', () => {
  const work = scratch();
  const place = { root: '/workspace', work };
  const file = path.join(work, 'both.pem');
  writeFileSync(file, `${KEY}\n${CERTIFICATE}\ntext`);
  expect(copyCertificates([{ setting: 'PIP_CERT', file }], 'ca.pem', place)).toBe('/workspace/work/ca.pem');
  expect(readFileSync(path.join(work, 'ca.pem'), 'utf8')).toBe(`${CERTIFICATE.trim()}\n`);
  expect(copyCertificates([], 'none.pem', place)).toBeUndefined();
  const failures = ['/nonexistent.pem', '/etc/hostname'].map((other) =>
    copyCertificates([{ setting: 'PIP_CERT', file: other }], 'other.pem', place),
  );
  expect(failures).toMatchObject([
    { code: 'packages/unavailable', message: 'the certificates in "/nonexistent.pem" (PIP_CERT) cannot be read' },
    { message: 'the certificates in "/etc/hostname" (PIP_CERT) cannot be read: the file has none in PEM format' },
  ]);
});

test('the host of an index may have a private address, whatever its name', () => {
  expect(['https://pypi.example/simple', 'http://10.0.0.1:8080/', 'file:///srv'].map(hostGrant)).toEqual([
    'private://pypi.example:443',
    'private://10.0.0.1:8080',
    undefined,
  ]);
});
