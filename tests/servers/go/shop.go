// A shop with an interface by HTTP: shelves, a list of sales, a log that a goroutine of its own writes.
package main

import (
	"fmt"
	"log"
	"net"
	"net/http"
	"os"
	"os/signal"
	"sort"
	"strconv"
	"strings"
	"sync"
	"syscall"
)

// An inventory says what lies in the shelves, by article.
type inventory struct {
	mu     sync.RWMutex
	pieces map[string]int
}

func (i *inventory) has(article string, number int) bool {
	i.mu.RLock()
	defer i.mu.RUnlock()
	return i.pieces[article] >= number
}

func (i *inventory) take(article string, number int) {
	i.mu.Lock()
	defer i.mu.Unlock()
	i.pieces[article] -= number
}

func (i *inventory) add(article string, number int) {
	i.mu.Lock()
	defer i.mu.Unlock()
	i.pieces[article] += number
}

func (i *inventory) total() int {
	i.mu.RLock()
	defer i.mu.RUnlock()
	sum := 0
	for _, number := range i.pieces {
		sum += number
	}
	return sum
}

type sale struct {
	buyer, article string
	number         int
}

// A ledger holds all sales.
type ledger struct {
	mu    sync.Mutex
	sales []sale
}

func (l *ledger) add(s sale) int {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.sales = append(l.sales, s)
	return len(l.sales)
}

func (l *ledger) lines() []string {
	l.mu.Lock()
	defer l.mu.Unlock()
	var lines []string
	for _, s := range l.sales {
		lines = append(lines, fmt.Sprintf("%s %d %s", s.buyer, s.number, s.article))
	}
	sort.Strings(lines)
	return lines
}

type shop struct {
	inventory inventory
	ledger    ledger
	audit     chan string
	written   sync.WaitGroup
}

func newShop() *shop {
	s := &shop{
		inventory: inventory{pieces: map[string]int{"mug": 1}},
		audit:     make(chan string, 16),
	}
	s.written.Add(1)
	go s.writeAudit()
	return s
}

func (s *shop) writeAudit() {
	defer s.written.Done()
	for line := range s.audit {
		log.Print(line)
	}
}

// sell returns the number of the sale, or 0 when too few are left.
func (s *shop) sell(buyer, article string, number int) int {
	if !s.inventory.has(article, number) {
		s.audit <- fmt.Sprintf("refused %s to %s", article, buyer)
		return 0
	}
	s.inventory.take(article, number)
	s.audit <- fmt.Sprintf("sold %d %s to %s", number, article, buyer)
	return s.ledger.add(sale{buyer, article, number})
}

func number(r *http.Request) (int, error) {
	text := r.URL.Query().Get("number")
	if text == "" {
		return 1, nil
	}
	return strconv.Atoi(text)
}

func (s *shop) buy(w http.ResponseWriter, r *http.Request) {
	n, err := number(r)
	if err != nil || r.Method != http.MethodPost {
		http.Error(w, "bad request", http.StatusBadRequest)
		return
	}
	article := r.URL.Query().Get("article")
	if s.sell(r.URL.Query().Get("buyer"), article, n) > 0 {
		fmt.Fprintln(w, "sold", article)
	} else {
		fmt.Fprintln(w, "no", article)
	}
}

func (s *shop) deliver(w http.ResponseWriter, r *http.Request) {
	n, err := number(r)
	if err != nil || r.Method != http.MethodPost {
		http.Error(w, "bad request", http.StatusBadRequest)
		return
	}
	s.inventory.add(r.URL.Query().Get("article"), n)
	fmt.Fprintln(w, "thanks")
}

func (s *shop) total(w http.ResponseWriter, r *http.Request) {
	fmt.Fprintln(w, s.inventory.total())
}

func (s *shop) sales(w http.ResponseWriter, r *http.Request) {
	fmt.Fprintln(w, strings.Join(s.ledger.lines(), "\n"))
}

func main() {
	s := newShop()
	mux := http.NewServeMux()
	mux.HandleFunc("/buy", s.buy)
	mux.HandleFunc("/deliver", s.deliver)
	mux.HandleFunc("/total", s.total)
	mux.HandleFunc("/sales", s.sales)
	listener, err := net.Listen("tcp", "127.0.0.1:8080")
	if err != nil {
		log.Fatal(err)
	}
	stop := make(chan os.Signal, 1)
	signal.Notify(stop, syscall.SIGTERM)
	go func() {
		<-stop
		close(s.audit)
		s.written.Wait()
		os.Exit(0)
	}()
	fmt.Println("listening on", listener.Addr())
	log.Fatal(http.Serve(listener, mux))
}
