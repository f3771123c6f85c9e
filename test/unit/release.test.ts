/** @module The pages that each release must update. */
import { readFileSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { describe, expect, test } from 'vitest';
import * as z from 'zod';
import { SECRET_SETTINGS } from '../../infra/deploy/stage/settings.ts';

const ROOT = resolve(import.meta.dirname, '../..');
const textOf = (file: string): string => readFileSync(join(ROOT, file), 'utf8');
const { version } = z.object({ version: z.string() }).parse(JSON.parse(textOf('package.json')));

describe('a release', () => {
  const sections = [...textOf('docs/changelog.md').matchAll(/^## (.+)$/gm)].map(([, title = '']) => title);
  const [newest = '', before = ''] = sections.filter((title) => title !== 'Unreleased');

  test('has the version of package.json, which the lockfile repeats', () => {
    expect(newest).toBe(version);
    const lock = z.object({ version: z.string(), packages: z.object({ '': z.object({ version: z.string() }) }) });
    const locked = lock.parse(JSON.parse(textOf('package-lock.json')));
    expect([locked.version, locked.packages[''].version]).toEqual([version, version]);
  });

  test('has an upgrade section from the previous version', () => {
    expect(textOf('docs/upgrade.md')).toContain(`## From ${before} to ${newest}\n`);
  });
});

describe('the pages of deployment and upgrade', () => {
  test('deploy a single stack with CHECKS=warn, because full prod checks pass only after later steps', () => {
    const commands = ['docs/deployment.md', 'docs/upgrade.md'].flatMap((file) => [
      ...textOf(file).matchAll(/`([^`]*npm run cdk -- deploy [^`]*)`/g),
    ]);
    expect(commands.length).toBeGreaterThan(0);
    for (const [, command = ''] of commands) expect(command).toMatch(/^CHECKS=warn /);
  });
});

describe('the page of key rotation', () => {
  const page = textOf('docs/key-rotation.md');
  /** The page names a secret of a slot without the slot, and a generated secret by its resource. */
  const GENERATED: Readonly<Record<string, string>> = { GUEST_TOKEN_SECRET: 'GuestTokenSecret', ID_SECRET: 'IdSecret' };
  const nameOf = (setting: string): string => GENERATED[setting] ?? setting.replace(/^PROVIDER_[A-D]_/, '');

  test('names every secret of a stage', () => {
    const names = new Set([...SECRET_SETTINGS.map(nameOf), 'WEBHOOK_<n>_SECRET', 'TRUSTED_EDGE_SECRET_SHA256']);
    expect([...names].filter((name) => !page.includes(`\`${name}\``))).toEqual([]);
  });

  test('says for each secret how to check it, or that it needs no check', () => {
    const sections = page.split('\n## ').slice(1);
    expect(sections.length).toBeGreaterThan(8);
    for (const section of sections) expect(section, section.split('\n')[0]).toMatch(/[Cc]heck|Nothing else changes/);
  });
});
