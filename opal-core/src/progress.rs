//! Making everything move: the functions that poll transports and schedules.
