// A balance is read and written in one locked section.
package main

import (
	"fmt"
	"os"
	"sync"
)

var (
	balance int
	mutex   sync.Mutex
)

func deposit(amount int, done *sync.WaitGroup) {
	defer done.Done()
	mutex.Lock()
	balance += amount
	mutex.Unlock()
}

func main() {
	var done sync.WaitGroup

	done.Add(2)
	go deposit(1, &done)
	go deposit(2, &done)
	done.Wait()
	if balance != 3 {
		fmt.Fprintln(os.Stderr, "lost update: balance", balance)
		os.Exit(1)
	}
}
