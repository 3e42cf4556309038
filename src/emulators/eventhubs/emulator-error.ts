// Why an emulator cannot start with what it was given.

/** The message is one sentence for the person who gave it. */
export class EmulatorError extends Error {}
