// Holds what the referee signs against golang.org/x/mod/sumdb: note.Open over notes, tlog over proofs. Reads one JSON
// document on standard input and writes one with an answer for each question: "" if it is accepted, else why not.
package main

import (
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"strings"

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
	// Heads of logs whose tiles are below a folder, as tlog-tiles names them.
	Logs []struct {
		Folder  string
		Size    int64
		Root    []byte
		Indices []int64
		Olds    []int64
	}
}

type logAnswer struct {
	Root   string
	Leaves [][]byte   // the leaf hash of each index, after its proof was checked
	Paths  [][][]byte // the inclusion proof of each
	Growth [][][]byte // the consistency proof from each old size
}

// tiles reads what the referee wrote. Whatever it reads, tlog holds against the root.
type tiles string

func (t tiles) Height() int { return 8 }

func (t tiles) SaveTiles([]tlog.Tile, [][]byte) {}

func (t tiles) ReadTiles(wanted []tlog.Tile) ([][]byte, error) {
	var found [][]byte
	for _, tile := range wanted {
		// tlog has the height in its paths, and tlog-tiles has not.
		path := strings.Replace(tile.Path(), "tile/8/", "tile/", 1)
		data, err := os.ReadFile(filepath.Join(string(t), path))
		if err != nil {
			return nil, err
		}
		found = append(found, data)
	}
	return found, nil
}

func raw(all []tlog.Hash) [][]byte {
	found := [][]byte{}
	for _, one := range all {
		one := one
		found = append(found, one[:])
	}
	return found
}

func ofLog(folder string, size int64, root []byte, indices, olds []int64) (a logAnswer, err error) {
	tree := tlog.Tree{N: size, Hash: hash(root)}
	reader := tlog.TileHashReader(tree, tiles(folder))
	found, err := tlog.TreeHash(size, reader)
	if err != nil {
		return a, err
	}
	if found != tree.Hash {
		return a, fmt.Errorf("root %s", found)
	}
	for _, index := range indices {
		leaves, err := reader.ReadHashes([]int64{tlog.StoredHashIndex(0, index)})
		if err != nil {
			return a, err
		}
		path, err := tlog.ProveRecord(size, index, reader)
		if err != nil {
			return a, err
		}
		if err := tlog.CheckRecord(path, size, tree.Hash, index, leaves[0]); err != nil {
			return a, err
		}
		a.Leaves = append(a.Leaves, raw(leaves)[0])
		a.Paths = append(a.Paths, raw(path))
	}
	for _, old := range olds {
		growth, err := tlog.ProveTree(size, old, reader)
		if err != nil {
			return a, err
		}
		a.Growth = append(a.Growth, raw(growth))
	}
	return a, nil
}

type answer struct {
	Notes, Texts, Inclusion, Consistency []string
	Leaves                               [][]byte
	Logs                                 []logAnswer
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
	for _, l := range q.Logs {
		found, err := ofLog(l.Folder, l.Size, l.Root, l.Indices, l.Olds)
		found.Root = why(err)
		a.Logs = append(a.Logs, found)
	}
	if err := json.NewEncoder(os.Stdout).Encode(a); err != nil {
		panic(err)
	}
}
