// Package check is `larder check`: it tries everything that `larder run` needs, and says of
// each finding what to do.
//
// What may live here: findings and their advice. What may not: anything that changes the
// warehouse, or mirrors a row.
package check
