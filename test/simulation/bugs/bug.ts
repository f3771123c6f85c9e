import { registerHooks } from 'node:module';

/**
 * A mistake planted in the service's source as it is loaded, to prove that the simulation would find it. To add a
 * mistake, add a row in a file of this folder. Run it by `npm run simulate -- --bug <name>`; the run has to fail.
 */
export interface Bug {
  /** `claim without condition` in kebab-case. */
  readonly name: string;
  /** The mistake, as a sentence. */
  readonly what: string;
  /** From the project's root. */
  readonly file: string;
  /** Occurs exactly once in the file. */
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
