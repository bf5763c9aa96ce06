// Type-aware linting for everything, and the wall around core.
import tseslint from 'typescript-eslint';

const banned = (names, reason) => names.map((name) => ({ name, message: reason }));

export default tseslint.config(
  { ignores: ['**/node_modules/**', '**/build/**', '**/build-asan/**', 'data/**'] },
  {
    files: ['**/*.ts'],
    extends: [...tseslint.configs.strictTypeChecked],
    languageOptions: {
      parserOptions: {
        projectService: { allowDefaultProject: [] },
        tsconfigRootDir: import.meta.dirname,
      },
    },
    rules: {
      '@typescript-eslint/restrict-template-expressions': [
        'error',
        { allowNumber: true, allowBoolean: true },
      ],
      '@typescript-eslint/switch-exhaustiveness-check': 'error',
      '@typescript-eslint/no-confusing-void-expression': ['error', { ignoreArrowShorthand: true }],
      // Typed arrays are read at indexes that the code has bounded; `!` says so without a branch.
      '@typescript-eslint/no-non-null-assertion': 'off',
      'no-restricted-exports': ['error', { restrictDefaultExports: { direct: true, named: true } }],
    },
  },
  {
    files: ['**/*.test.ts', '**/*.fuzz.ts'],
    rules: {
      // node:test returns promises from `test` and `describe` that the runner itself awaits.
      '@typescript-eslint/no-floating-promises': [
        'error',
        {
          allowForKnownSafeCalls: [
            { from: 'package', name: ['test', 'it', 'describe', 'suite'], package: 'node:test' },
          ],
        },
      ],
    },
  },
  {
    // The wall: core and protocol decide, they never do. Each ban says what to use instead.
    files: ['packages/core/src/**/*.ts', 'packages/protocol/src/**/*.ts'],
    ignores: ['**/*.test.ts', '**/*.bench.ts', '**/*.fuzz.ts'],
    rules: {
      'no-restricted-globals': [
        'error',
        ...banned(['Date', 'performance'], 'no clocks in core: take `now` from the event'),
        ...banned(
          ['setTimeout', 'setInterval', 'setImmediate', 'queueMicrotask'],
          'no timers in core: return the moment from nextDeadline() and act in onTick(now)',
        ),
        ...banned(['Promise'], 'no promises in core: outcomes come back as events'),
        ...banned(['crypto'], 'no randomness in core: take a seeded Prng'),
        ...banned(
          [
            'process',
            'Buffer',
            'console',
            'fetch',
            'require',
            'globalThis',
            'WeakRef',
            'FinalizationRegistry',
          ],
          'no I/O or environment in core: add an effect and let the driver do it',
        ),
        ...banned(
          ['BigInt', 'BigInt64Array', 'BigUint64Array'],
          'two u32 halves are far faster than BigInt',
        ),
      ],
      'no-restricted-properties': [
        'error',
        {
          object: 'Math',
          property: 'random',
          message: 'no randomness in core: take a seeded Prng',
        },
        ...['log', 'log2', 'exp', 'pow', 'sin', 'cos'].map((property) => ({
          object: 'Math',
          property,
          message: 'transcendental functions may differ between engines: never in a decision',
        })),
      ],
      'no-restricted-syntax': [
        'error',
        { selector: 'ForInStatement', message: 'for-in has no order to rely on: iterate an array' },
        { selector: 'Literal[bigint]', message: 'two u32 halves are far faster than BigInt' },
        {
          selector:
            ':matches(FunctionDeclaration,FunctionExpression,ArrowFunctionExpression)[async=true]',
          message: 'no promises in core: outcomes come back as events',
        },
        {
          selector: 'AwaitExpression',
          message: 'no promises in core: outcomes come back as events',
        },
        { selector: 'ImportExpression', message: 'core loads nothing at run time' },
      ],
    },
  },
  {
    // A seed fixes a whole simulated run: nothing in it may ask the machine for time or chance.
    files: ['packages/sim/src/**/*.ts'],
    ignores: ['packages/sim/src/command/**', 'packages/sim/src/lab/main.ts', '**/*.test.ts'],
    rules: {
      'no-restricted-globals': [
        'error',
        ...banned(['Date', 'performance'], 'a run has one clock: its event queue'),
        ...banned(
          ['setTimeout', 'setInterval', 'setImmediate', 'queueMicrotask', 'Promise'],
          'a run has one order: schedule on its event queue',
        ),
        ...banned(['crypto', 'process'], 'a run depends on its seed alone: take a stream'),
      ],
      'no-restricted-properties': [
        'error',
        { object: 'Math', property: 'random', message: 'take one of the run’s streams' },
        ...['log', 'log2', 'exp', 'pow', 'sin', 'cos'].map((property) => ({
          object: 'Math',
          property,
          message: 'may differ between engines, and a seed must replay everywhere',
        })),
      ],
    },
  },
);
