// Package fleet is what several doors in front of one store need to know of each other,
// so that none goes by a layout that another has changed.
//
// Doors have no coordinator but the store. What a door has read of the catalogue is good
// for a lease: it asks again before the lease is over, and serves nothing of sharded
// tables once it is over, until it has asked again.
package fleet
