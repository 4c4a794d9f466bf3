// Package units is money, quantities, instants and Bucharest days, and how api.md writes them.
// Contents: values and their text.
package units
