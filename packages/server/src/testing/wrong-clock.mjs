// Loaded into a process before its own code: the time of day is off by so many milliseconds.
const offMs = Number(process.env['S3A_TEST_CLOCK_OFF_MS']);
const RightDate = Date;
globalThis.Date = class extends RightDate {
  constructor(...args) {
    if (args.length === 0) super(RightDate.now() + offMs);
    else super(...args);
  }

  static now() {
    return RightDate.now() + offMs;
  }
};
