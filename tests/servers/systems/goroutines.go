// Eight goroutines take numbers from a channel and answer by another, with a timer each; a ticker runs beside them.
package main

import (
	"sync"
	"time"
)

func main() {
	numbers, squares := make(chan int), make(chan int, 2)
	ticker := time.NewTicker(time.Millisecond)
	var group sync.WaitGroup

	for i := 0; i < 8; i++ {
		group.Add(1)
		go func() {
			defer group.Done()
			for n := range numbers {
				select {
				case squares <- n * n:
				case <-time.After(time.Hour):
					panic("nobody takes the square")
				}
			}
		}()
	}
	go func() {
		for n := 0; n < 16; n++ {
			numbers <- n
		}
		close(numbers)
		group.Wait()
		close(squares)
	}()
	sum := 0
	for square := range squares {
		sum += square
	}
	<-ticker.C
	ticker.Stop()
	if sum != 1240 {
		panic(sum)
	}
}
