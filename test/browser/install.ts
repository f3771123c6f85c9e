/** @module Once before the tests that need a browser: installs its package, unless it is installed. */
import { installOwnPackages } from '../../infra/own-packages.ts';

export const setup = (): void => installOwnPackages(import.meta.dirname);
