// A bot in Go: takes the first move of the list that buys, builds or places, otherwise the last. go build mybot.go
package main

import (
	"encoding/json"
	"os"
	"regexp"
)

var better = regexp.MustCompile("^(buy|build|place) ")

type line struct {
	Hello *struct{}
	Turn  *struct{ Texts []string }
}

func main() {
	in, out := json.NewDecoder(os.Stdin), json.NewEncoder(os.Stdout)
	for told := (line{}); in.Decode(&told) == nil; told = (line{}) {
		if told.Hello != nil {
			out.Encode(map[string]string{"name": "first builder"})
		} else if told.Turn != nil {
			move, last := 0, len(told.Turn.Texts)-1
			for move < last && !better.MatchString(told.Turn.Texts[move]) {
				move++
			}
			out.Encode(map[string]int{"move": move})
		}
	}
}
