/**
 * The moment of the event at hand, in milliseconds: the gateway sets it as an event begins, and every step of that event
 * sees the same. Handing the number down from call to call would make each call box it.
 */
export interface Moment {
  now: number;
}
