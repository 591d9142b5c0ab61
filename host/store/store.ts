/**
 * The store: the one interface to durable state, and its drivers. In: a directory of the application's. Out: what several processes
 * share and what outlives them. Holds always: the only SQL of the project is here, directory 0700, file 0600, no links followed.
 * Not promised: that a disk keeps what it was told to.
 */
export {};
