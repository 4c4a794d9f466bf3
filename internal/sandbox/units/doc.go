// Package units is money, quantities, instants and Bucharest days, and how the API's description writes them.
// Contents: values and their text.
package units
