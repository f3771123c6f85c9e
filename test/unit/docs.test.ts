import { randomBytes } from 'node:crypto';
import { existsSync, globSync, readFileSync } from 'node:fs';
import { dirname, join, resolve } from 'node:path';
import { describe, expect, test } from 'vitest';
import { FILES, PAGES, readPage, withParts } from '../../infra/make/docs/docs.ts';
import { secretOf } from '../../shared/access/service-key.ts';
import { RECORDED_SDKS } from '../contract/recorded-sdks.ts';

const ROOT = resolve(import.meta.dirname, '../..');

describe('the documentation', () => {
  test.each(Object.entries(PAGES))(
    '%s has generated parts that match the code (`npm run docs` writes them)',
    (page, parts) => {
      const text = readPage(page);
      expect(text).toBe(withParts(text, parts()));
    },
  );

  test.each(Object.entries(FILES))('%s matches the code (`npm run docs` writes it)', (file, made) => {
    expect(readPage(file)).toBe(made());
  });

  test('names every setting of docs/settings.md in .env.example, without a value', () => {
    const named = [...readPage('docs/settings.md').matchAll(/^\| `([\w<>]+)` \|/gm)].map(([, name = '']) =>
      name.replace('PROVIDER_x', 'PROVIDER_A').replace('<n>', '1'),
    );
    const lines = readPage('.env.example').split('\n');
    expect(lines.filter((line) => line !== '' && !line.startsWith('#'))).toEqual([]);
    expect(named.filter((name) => !lines.some((line) => line.startsWith(`#${name}=`)))).toEqual([]);
    expect(named.length).toBeGreaterThan(50);
  });

  test('numbers the decisions without gaps, and gives them one format', () => {
    const files = globSync('docs/decisions/*.md', { cwd: ROOT }).sort();
    const headings = ['Context.', 'Decision.', 'Consequences.', 'What would change our mind.'];
    for (const [index, file] of files.entries()) {
      const number = index + 1;
      expect(file).toMatch(new RegExp(`/${String(number).padStart(4, '0')}-[a-z-]+\\.md$`));
      const text = readPage(file);
      expect(text).toMatch(new RegExp(`^# ${number}\\. \\S`));
      expect([...text.matchAll(/^\*\*([^*]+)\*\*/gm)].map(([, heading]) => heading)).toEqual(headings);
    }
    expect(files.length).toBeGreaterThan(10);
  });

  test('has workflows that run only commands from the README, docs/commands.md or docs/client.md', () => {
    const documented = `${readPage('README.md')}${readPage('docs/commands.md')}`;
    const commandsOf = (workflow: string): readonly string[] =>
      [...readPage(`.github/workflows/${workflow}.yml`).matchAll(/- run: (npm (?:run (?:-s )?)?[a-z:]+)/g)].map(
        ([, command = '']) => command.replace(' -s', ''),
      );
    const [ci, release] = [commandsOf('ci'), commandsOf('release')];
    expect(ci).toEqual(expect.arrayContaining(['npm ci', 'npm test', 'npm run build', 'npm run synth']));
    expect(release).toEqual(['npm ci', 'npm test', 'npm ci', 'npm run client', 'npm pack', 'npm run openapi']);
    const shown = `${documented}${readPage('docs/client.md')}`;
    expect([...ci, ...release].filter((command) => !shown.includes(command))).toEqual([]);
  });

  test('pairs every generated part with a marker', () => {
    const place = '<!-- generated: one -->\n<!-- end -->';
    expect(withParts(place, { one: 'x' })).toBe('<!-- generated: one -->\n\nx\n\n<!-- end -->');
    expect(() => withParts(place, { one: 'x', two: 'y' })).toThrow('no place for two');
    expect(() => withParts(place, {})).toThrow('nothing makes the part one');
  });
});

const WRITTEN = ['README.md', ...globSync(['docs/**/*.md', '.github/*.md'], { cwd: ROOT })];
const COMMANDS = readFileSync(join(ROOT, 'package.json'), 'utf8');
const { dependencies, devDependencies } = JSON.parse(COMMANDS) as Record<string, Record<string, string>>;
/** The packages that `npm ci` installs, plus `node`, which one of the packages provides. */
const INSTALLED = [...Object.keys({ ...dependencies, ...devDependencies }), 'node'];

/** The anchors of a page's headings, as GitHub creates them. */
const headingsOf = (text: string): readonly string[] =>
  [...text.matchAll(/^#+ (.+)$/gm)].map(([, heading = '']) =>
    heading
      .toLowerCase()
      .replaceAll(/[^\p{L}\p{N} _-]/gu, '')
      .replaceAll(' ', '-'),
  );

describe('every page', () => {
  test.each(WRITTEN)('%s names only existing files, pages and commands', (page) => {
    const text = readPage(page);
    const links = [...text.matchAll(/\]\((?!https?:)([^)#\s]+)/g)].map(([, link = '']) => join(dirname(page), link));
    const paths = [...text.matchAll(/`((?:functions|infra|shared|test|docs)\/[\w./-]+\.\w+)`/g)].map(
      ([, path = '']) => path,
    );
    const gone = [...links, ...paths].filter((path) => !existsSync(join(ROOT, path)));
    const commands = [...text.matchAll(/npm run (?:-s )?([a-z:]+)/g)].map(([, name = '']) => name);
    const unknown = commands.filter((name) => !COMMANDS.includes(`"${name}":`));
    expect({ gone, unknown }).toEqual({ gone: [], unknown: [] });
  });

  test.each(WRITTEN)('%s links only to existing headings', (page) => {
    const links = [...readPage(page).matchAll(/\]\((?!https?:)([^)#\s]*)#([^)\s]+)\)/g)];
    const gone = links.filter(([, link = '', heading = '']) => {
      const target = link === '' ? page : join(dirname(page), link);
      return !headingsOf(readPage(target)).includes(heading);
    });
    expect(gone.map(([link]) => link)).toEqual([]);
  });

  test.each([...WRITTEN, 'infra/make/client/README.md'])(
    '%s installs and runs only packages that the project depends on',
    (page) => {
      const named = [...readPage(page).matchAll(/\b(?:npm (?:install|i|add)|npx)((?: -[\w-]+)*) ([^\s`]+)/g)];
      const packages = named.map(([, , name = '']) => name).filter((name) => !/^\.|\//.test(name));
      expect(packages.filter((name) => !INSTALLED.includes(name))).toEqual([]);
    },
  );

  test.each([...WRITTEN, 'infra/make/client/README.md'])('%s never leaves the reader’s working folder', (page) => {
    const blocks = [...readPage(page).matchAll(/^ *```sh\n(.*?)^ *```$/gms)].map(([, commands = '']) => commands);
    expect(blocks.filter((commands) => /(?:^|[;&|(]\s*)(?:cd|pushd)\b/m.test(commands))).toEqual([]);
  });

  test.each([...WRITTEN, 'infra/make/client/README.md'])(
    '%s has commands without a placeholder to replace by hand',
    (page) => {
      const blocks = [...readPage(page).matchAll(/^ *```sh\n(.*?)^ *```$/gms)].map(([, commands = '']) => commands);
      expect(blocks.filter((commands) => /<[a-z][\w -]*>|…|(?<!\$)\{[a-z]+\}/.test(commands))).toEqual([]);
    },
  );

  test('docs/local.md names the version of each SDK that the contract tests use', () => {
    const recorded = Object.values(RECORDED_SDKS).map(({ sdk }) => `\`${sdk.name}\` ${sdk.version}`);
    const installed = ['stripe', 'braintree'].map((name) => `\`${name}\` ${dependencies?.[name]}`);
    const page = readPage('docs/local.md');
    expect([...recorded, ...installed].filter((version) => !page.includes(version))).toEqual([]);
  });

  test('docs/security.md has a search expression for the secrets of service keys', () => {
    const [, expression = ''] = /^```\n(psk_.+)\n```$/m.exec(readPage('docs/security.md')) ?? [];
    const secret = secretOf('key_0123456789abcdef01234567', randomBytes(32).toString('base64url'));
    expect(`KEY="${secret}"; A=1`.match(new RegExp(expression))?.[0]).toBe(secret);
    expect(new RegExp(expression).test(secret.slice(0, -1))).toBe(false);
  });

  test('docs/security.md names existing tests as its proofs', () => {
    const named = [...readPage('docs/security.md').matchAll(/`((?:unit|flow|infra|contract)\/[\w-]+)`/g)].map(
      ([, name = '']) => name,
    );
    expect(named.filter((name) => globSync(`test/${name}{,.long}.test.ts`, { cwd: ROOT }).length === 0)).toEqual([]);
    expect(named.length).toBeGreaterThan(50);
  });

  test.each([
    ['Stripe', ['payment_intent.amount_capturable_updated', 'payment_intent.canceled', 'payment_intent.succeeded']],
    ['PayPal', ['PAYMENT.AUTHORIZATION.CREATED', 'PAYMENT.AUTHORIZATION.VOIDED', 'PAYMENT.CAPTURE.COMPLETED']],
    ['Square', ['payment.updated']],
  ])('docs/deployment.md subscribes to the events of holds at %s', (provider, events) => {
    const row = readPage('docs/deployment.md').match(new RegExp(`^\\| ${provider} \\| (\`.*) \\|$`, 'm'))?.[1] ?? '';
    const named = row.split(' · ').flatMap((group) => {
      const [first = '', ...more] = [...group.matchAll(/`([^`]+)`/g)].map(([, name = '']) => name);
      const prefix = first.slice(0, first.lastIndexOf('.'));
      return [first, ...more.map((name) => (name.startsWith('.') ? `${prefix}${name}` : name))];
    });
    expect(events.filter((event) => !named.includes(event))).toEqual([]);
  });

  test('docs/architecture.md names only existing files and folders, from the root or from shared/', () => {
    const named = [...readPage('docs/architecture.md').matchAll(/`([\w-]+(?:\/[\w-]+)+(?:\.\w+)?)`/g)];
    const paths = named.map(([, path = '']) => path);
    const gone = paths.filter((path) => !['', 'shared'].some((root) => existsSync(join(ROOT, root, path))));
    expect({ gone, isChecked: paths.length > 50 }).toEqual({ gone: [], isChecked: true });
  });
});
