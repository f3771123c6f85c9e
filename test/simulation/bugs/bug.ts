import { registerHooks } from 'node:module';

/**
 * A mistake planted in the service's source during loading, to prove that the simulation finds such mistakes.
 * To add a mistake, add a row in a file of this folder. `npm run simulate -- --bug <name>` must then fail.
 */
export interface Bug {
  /** A short name in kebab-case, such as `claim-without-condition`. */
  readonly name: string;
  /** The mistake, as a sentence. */
  readonly what: string;
  /** The path of the changed file, from the project's root. */
  readonly file: string;
  /** The replaced text, which occurs exactly once in the file. */
  readonly text: string;
  readonly replacement: string;
}

/** Must run before the service is loaded. @throws Error if the text does not occur exactly once */
export const plant = (bug: Bug): void => {
  registerHooks({
    load: (url, context, nextLoad) => {
      const loaded = nextLoad(url, context);
      if (!url.endsWith(`/${bug.file}`)) return loaded;
      const parts = String(loaded.source).split(bug.text);
      if (parts.length !== 2) throw new Error(`${bug.name}: ${bug.file} has the text ${parts.length - 1} times`);
      return { ...loaded, source: parts.join(bug.replacement) };
    },
  });
};
