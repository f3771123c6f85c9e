import { SQUARE } from './provider-subjects.ts';
import { testProvider } from './provider-suite.ts';

testProvider(SQUARE);
