// Package budget decides when a request may be sent: the stacked limits of a
// key, a restaurant and the heavy routes, in lanes (DESIGN §6).
//
// What may live here: counting, waiting and forecasting. What may not: HTTP, the
// API's routes, knowledge of what a request is for beyond its lane and weight.
package budget
