// The layers of ARCHITECTURE.md as a short table of what may not import what. `npm run layers` fails
// on a breach, and when the cruiser didn't see all modules (scripts/layers.ts).
const inside = (name) => `^packages/${name}/`;
const tests = '\\.(test|fuzz|bench)\\.ts$';
/** What every program says of a command line that means nothing. */
const complaints = '^packages/server/src/config/argument-error\\.ts$';

const wall = (name, comment, from, to) => ({ name, comment, severity: 'error', from, to });

/** @type {import('dependency-cruiser').IConfiguration} */
export default {
  forbidden: [
    wall(
      'core-is-pure',
      'core decides and never does: it imports only itself. Hand it an effects port instead.',
      { path: inside('core'), pathNot: tests },
      { pathNot: inside('core') },
    ),
    wall(
      'protocol-is-pure',
      'protocol encodes records of core: it may import core and itself, nothing else.',
      { path: inside('protocol'), pathNot: tests },
      { pathNot: [inside('core'), inside('protocol')] },
    ),
    wall(
      'gateway-and-node-only-talk',
      'gateway and node speak through read.ts messages and never import each other.',
      { path: '^packages/core/src/gateway/', pathNot: tests },
      { path: '^packages/core/src/node/' },
    ),
    wall(
      'node-and-gateway-only-talk',
      'gateway and node speak through read.ts messages and never import each other.',
      { path: '^packages/core/src/node/', pathNot: tests },
      { path: '^packages/core/src/gateway/' },
    ),
    wall(
      'core-base-is-lowest',
      'core/base is the bottom: it imports nothing above it.',
      { path: '^packages/core/src/base/', pathNot: tests },
      { path: '^packages/core/src/', pathNot: '^packages/core/src/base/' },
    ),
    wall(
      'core-s3-is-below-the-machines',
      'core/s3 knows S3 rules and nothing of stores, nodes or gateways.',
      { path: '^packages/core/src/s3/', pathNot: tests },
      { path: '^packages/core/src/', pathNot: '^packages/core/src/(base|s3)/' },
    ),
    wall(
      'store-knows-no-machine',
      'the store is a data structure: node uses it, not the other way round.',
      { path: '^packages/core/src/store/', pathNot: tests },
      { path: '^packages/core/src/(node|gateway)/' },
    ),
    wall(
      'addon-has-three-importers',
      'the native addon is imported by server, load and bench only: the program and what has to be as cheap as it.',
      { pathNot: [inside('native'), inside('server'), inside('load'), inside('bench'), tests] },
      { path: inside('native') },
    ),
    wall(
      'the-addon-stands-alone',
      'native decides nothing, so it needs nothing that knows of objects.',
      { path: inside('native'), pathNot: tests },
      { path: '^packages/', pathNot: inside('native') },
    ),
    wall(
      'the-program-needs-no-double',
      'what judges or measures the program is no part of it.',
      { path: inside('server'), pathNot: [tests, '/testing/'] },
      { path: '^packages/(memory-s3|conformance|bench|load|sim|mutants|torture)/' },
    ),
    wall(
      'metadata-tells-and-serves-nothing',
      'the metadata service shares settings, the log, the signing key and the way onto a Node with the program, and nothing that serves objects.',
      { path: inside('metadata'), pathNot: [tests, '/testing/'] },
      {
        path: '^packages/',
        pathNot: [
          inside('metadata'),
          '^packages/server/src/(config/|log\\.ts|auth/clients\\.ts|start/on-new-node\\.mjs)',
        ],
      },
    ),
    wall(
      'bench-is-outside',
      'the benchmark measures processes: of ours it uses the digests alone, to sign its requests.',
      { path: inside('bench'), pathNot: tests },
      { path: '^packages/', pathNot: [inside('bench'), inside('native'), complaints] },
    ),
    wall(
      'the-load-generator-is-a-client',
      'load knows of the program only how a TOML file is read and the way onto a Node: any S3 endpoint is the same to it.',
      { path: inside('load'), pathNot: tests },
      {
        path: '^packages/',
        pathNot: [
          inside('load'),
          inside('native'),
          '^packages/core/src/base/',
          '^packages/server/src/(config/|start/on-new-node\\.mjs)',
        ],
      },
    ),
    wall(
      'the-embedded-s3-stands-alone',
      'memory-s3 judges the accelerator in tests, so it shares no code with it.',
      { path: inside('memory-s3'), pathNot: tests },
      {
        path: '^packages/(core|protocol|native|server|bench|load|conformance)/',
        pathNot: complaints,
      },
    ),
    wall(
      'the-oracle-is-independent',
      'the oracle judges the machines, so it shares no code with them: it imports only itself.',
      { path: '^packages/sim/src/oracle/', pathNot: tests },
      { pathNot: '^packages/sim/src/oracle/' },
    ),
    wall(
      'checkers-see-what-was-recorded',
      'a checker judges the history and what the world shows: it never asks the machines.',
      { path: '^packages/sim/src/checkers/', pathNot: tests },
      { pathNot: '^packages/sim/src/(checkers|oracle|history)/' },
    ),
    wall(
      'the-simulator-needs-no-system',
      'the simulator runs the core over models: no sockets, no files, none of the program but its grants.',
      { path: inside('sim'), pathNot: [tests, '^packages/sim/src/(command|lab)/'] },
      {
        pathNot: [
          inside('sim'),
          inside('core'),
          '^packages/server/src/auth/(grants|operation)\\.ts$',
        ],
      },
    ),
    wall(
      'conformance-is-outside',
      'the conformance suite is a client like any other: only the AWS SDK, and process helpers.',
      { path: inside('conformance'), pathNot: tests },
      { path: '^packages/(core|protocol|native|server)/', pathNot: complaints },
    ),
    wall(
      'no-cycles',
      'two files that need each other are one concept or three.',
      {},
      { circular: true },
    ),
    wall(
      'no-dead-files',
      'a file that nothing imports and that is no entry point is dead: delete it.',
      {
        orphan: true,
        pathNot: [tests, '^scripts/', '/main\\.ts$', '\\.mjs$', '\\.d\\.ts$'],
      },
      {},
    ),
    wall('no-unresolved', 'an import that resolves to nothing.', {}, { couldNotResolve: true }),
  ],
  options: {
    doNotFollow: { path: 'node_modules' },
    exclude: { path: 'node_modules|/build/' },
    tsPreCompilationDeps: true,
    tsConfig: { fileName: 'tsconfig.json' },
    enhancedResolveOptions: {
      exportsFields: ['exports'],
      conditionNames: ['import', 'node', 'default'],
    },
  },
};
