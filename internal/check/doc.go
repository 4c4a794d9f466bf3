// Package check is `larder check`: it tries everything that `larder run` needs, and says of
// each finding what to do.
//
// Contents: findings and their advice.
package check
