package credentials

import (
	"crypto/rand"
	"errors"
	"fmt"
	"os"
	"path/filepath"

	"github.com/larder-sync/larder/config"
	"github.com/larder-sync/larder/internal/personal"
)

// Policy is what is kept of the people who order online through a source.
func (r Reader) Policy(s *config.Source) (personal.Policy, error) {
	if mode := personal.Mode(s.PersonalData); mode != personal.Pseudonymise {
		return personal.New(mode, nil)
	}
	policy, found, err := r.Pseudonyms()
	if err != nil || found {
		return policy, err
	}
	path := r.Config.Warehouse.PersonalKeyFile()
	if err := makeKey(path); err != nil && !errors.Is(err, os.ErrExist) { // else another process was first
		return personal.Policy{}, fmt.Errorf("make the key of pseudonyms: %w; name another place in warehouse.personal_data_key_file", err)
	}
	r.Log.Info("the key of pseudonyms was made: keep it with the warehouse, and where nobody reads who may not tell customers apart", "file", path)
	policy, found, err = r.Pseudonyms()
	if err == nil && !found { // a link that leads nowhere, say: the zero policy would erase every pseudonym
		err = fmt.Errorf("file %s: %w; it must hold the key of pseudonyms and nothing else, readable for this user", path, os.ErrNotExist)
	}
	return policy, err
}

// Pseudonyms is the policy with the key of pseudonyms. It is not found where the configuration names
// none and none was made yet.
func (r Reader) Pseudonyms() (policy personal.Policy, found bool, err error) {
	w := &r.Config.Warehouse
	key, err := w.ReadPersonalKey()
	if errors.Is(err, os.ErrNotExist) && w.PersonalDataKeyFile == "" {
		return policy, false, nil
	}
	if err != nil {
		return policy, false, err
	}
	if policy, err = personal.New(personal.Pseudonymise, []byte(key.Reveal())); err != nil {
		err = fmt.Errorf("file %s: %w", w.PersonalKeyFile(), err)
	}
	return policy, true, err
}

// makeKey writes a new key to a file that must not be there, durably: no pseudonym that is
// stored outlives it. Of processes that begin together, one makes it.
func makeKey(path string) error {
	dir := filepath.Dir(path)
	if err := os.MkdirAll(dir, 0o700); err != nil {
		return err
	}
	f, err := os.CreateTemp(dir, filepath.Base(path)+".")
	if err != nil {
		return err
	}
	_, err = f.WriteString(rand.Text() + rand.Text() + "\n")
	err = errors.Join(err, f.Sync(), f.Close())
	if err == nil {
		err = os.Link(f.Name(), path)
	}
	return errors.Join(err, os.Remove(f.Name()), syncFolder(dir)) // also when another process was first
}

func syncFolder(dir string) error {
	f, err := os.Open(dir)
	if err != nil {
		return err
	}
	return errors.Join(f.Sync(), f.Close())
}

// Pseudonym returns the pseudonym of a phone; empty where pseudonyms were never made.
func (r Reader) Pseudonym(phone string) (string, error) {
	if phone == "" {
		return "", nil
	}
	policy, found, err := r.Pseudonyms()
	if err != nil || !found {
		return "", err
	}
	return policy.CustomerKey(phone), nil
}
