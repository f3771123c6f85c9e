import { plant } from './bugs/bug.ts';
import { BUGS } from './bugs/bugs.ts';
import { installPlatform } from './kernel/platform.ts';

/**
 * Replaces the platform of this process and loads the service, with a planted bug on request. Afterwards the process
 * can only run histories.
 */
export const loadSimulation = async (bugName: string | undefined) => {
  if (bugName !== undefined) plant(bugNamed(bugName));
  installPlatform();
  const { simulate } = await import('./simulation.ts');
  const { shrink } = await import('./shrink.ts');
  const { loadFunctions } = await import('./places/service.ts');
  await loadFunctions();
  return { simulate, shrink };
};

/** @throws Error if no bug has this name */
const bugNamed = (name: string) => {
  const bug = BUGS.find((one) => one.name === name);
  if (!bug) throw new Error(`no planted bug is named ${name}`);
  return bug;
};
