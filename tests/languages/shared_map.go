// Two goroutines write to a map without a lock.
package main

import "sync"

var cache = map[string]int{}

func put(key string, value int, done *sync.WaitGroup) {
	defer done.Done()
	cache[key] = value
}

func main() {
	var done sync.WaitGroup

	done.Add(2)
	go put("a", 1, &done)
	go put("b", 2, &done)
	done.Wait()
	if len(cache) != 2 {
		panic("an entry is lost")
	}
}
