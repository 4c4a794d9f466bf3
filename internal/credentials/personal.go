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
	mode := personal.Mode(s.PersonalData)
	if mode == "" {
		mode = personal.Drop
	}
	if mode != personal.Pseudonymise {
		return personal.New(mode, nil)
	}
	key, err := r.personalKey()
	if err != nil {
		return personal.Policy{}, err
	}
	policy, err := personal.New(mode, []byte(key.Reveal()))
	if err != nil {
		return personal.Policy{}, fmt.Errorf("file %s: %w", r.Config.Warehouse.PersonalKeyFile(), err)
	}
	return policy, nil
}

// personalKey reads the key of pseudonyms, and makes one where the configuration names none
// and there is none yet.
func (r Reader) personalKey() (config.Secret, error) {
	key, err := r.Config.Warehouse.ReadPersonalKey()
	if !errors.Is(err, os.ErrNotExist) || r.Config.Warehouse.PersonalDataKeyFile != "" {
		return key, err
	}
	path := r.Config.Warehouse.PersonalKeyFile()
	if err := makeKey(path); err != nil && !errors.Is(err, os.ErrExist) { // else another process was first
		return config.Secret{}, fmt.Errorf("make the key of pseudonyms: %w; name another place in warehouse.personal_data_key_file", err)
	}
	r.Log.Info("the key of pseudonyms was made: keep it with the warehouse, and where nobody reads who may not tell customers apart", "file", path)
	return r.Config.Warehouse.ReadPersonalKey()
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
	return errors.Join(err, os.Remove(f.Name()), syncFolder(dir))
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
	if phone == "" || r.Config.Warehouse.PersonalKeyFile() == "" {
		return "", nil
	}
	key, err := r.Config.Warehouse.ReadPersonalKey()
	if errors.Is(err, os.ErrNotExist) && r.Config.Warehouse.PersonalDataKeyFile == "" {
		return "", nil
	}
	if err != nil {
		return "", err
	}
	policy, err := personal.New(personal.Pseudonymise, []byte(key.Reveal()))
	return policy.CustomerKey(phone), err
}
