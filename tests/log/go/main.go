// Holds what the referee signs against golang.org/x/mod/sumdb: note.Open over notes, tlog over proofs. Reads one JSON
// document on standard input and writes one with an answer for each question: "" if it is accepted, else why not.
package main

import (
	"encoding/json"
	"os"

	"golang.org/x/mod/sumdb/note"
	"golang.org/x/mod/sumdb/tlog"
)

type question struct {
	Verifier  string
	Notes     [][]byte
	Inclusion []struct {
		Proof [][]byte
		Size  int64
		Root  []byte
		Index int64
		Leaf  []byte
	}
	Consistency []struct {
		Proof   [][]byte
		Size    int64
		Root    []byte
		OldSize int64
		OldRoot []byte
	}
	Entries [][]byte
}

type answer struct {
	Notes, Texts, Inclusion, Consistency []string
	Leaves                               [][]byte
}

func hash(data []byte) (h tlog.Hash) {
	copy(h[:], data)
	return h
}

func hashes(all [][]byte) []tlog.Hash {
	var found []tlog.Hash
	for _, one := range all {
		found = append(found, hash(one))
	}
	return found
}

func why(err error) string {
	if err == nil {
		return ""
	}
	return err.Error()
}

func main() {
	var q question
	if err := json.NewDecoder(os.Stdin).Decode(&q); err != nil {
		panic(err)
	}
	verifier, err := note.NewVerifier(q.Verifier)
	if err != nil {
		panic(err)
	}
	a := answer{}
	for _, data := range q.Notes {
		opened, err := note.Open(data, note.VerifierList(verifier))
		text := ""
		if err == nil {
			text = opened.Text
		}
		a.Notes = append(a.Notes, why(err))
		a.Texts = append(a.Texts, text)
	}
	for _, i := range q.Inclusion {
		a.Inclusion = append(a.Inclusion, why(tlog.CheckRecord(hashes(i.Proof), i.Size, hash(i.Root), i.Index, hash(i.Leaf))))
	}
	for _, c := range q.Consistency {
		a.Consistency = append(a.Consistency, why(tlog.CheckTree(hashes(c.Proof), c.Size, hash(c.Root), c.OldSize, hash(c.OldRoot))))
	}
	for _, entry := range q.Entries {
		leaf := tlog.RecordHash(entry)
		a.Leaves = append(a.Leaves, leaf[:])
	}
	if err := json.NewEncoder(os.Stdout).Encode(a); err != nil {
		panic(err)
	}
}
