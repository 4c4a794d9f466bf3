// Package units is money, quantities, instants and Bucharest days, and how api.md writes
// them. What may live here: values and their text. What may not: anything of a restaurant.
package units
