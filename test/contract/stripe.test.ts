import { STRIPE } from './provider-subjects.ts';
import { testProvider } from './provider-suite.ts';

testProvider(STRIPE);
