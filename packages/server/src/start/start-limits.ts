/** Figures that all loops of a process start with. */

/** How often the machines look at their deadlines. */
export const tickMs = 50;
/** Connections of a reactor besides those that settings bound: links to others, and what is on its way out. */
export const spareConnections = 1024;
