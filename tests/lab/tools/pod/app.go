// Copyright (c) 2026 sunset.kube contributors
// GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt or https://www.gnu.org/licenses/gpl-3.0.txt)
// SPDX-License-Identifier: GPL-3.0-or-later

package main

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"os"
	"time"
)

const (
	longestWait = time.Minute // one request may not hang a test run
	lastRequest = 10 * time.Second
)

// app answers 200 and "app NAME" to every method on every path; NAME comes from the environment, and so does PORT.
// `?wait=300ms` delays the answer. Told to end, it finishes the requests it has.
func app(asked context.Context) error {
	name, port := setting("NAME", "nameless"), setting("PORT", "8080")
	server := &http.Server{
		Addr:              ":" + port,
		ReadHeaderTimeout: longestWait,
		Handler: http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			if wait, err := time.ParseDuration(r.URL.Query().Get("wait")); err == nil {
				time.Sleep(min(wait, longestWait))
			}
			w.Header().Set("Content-Type", "text/plain; charset=utf-8")
			w.Header().Set("X-App", name)
			fmt.Fprintf(w, "app %s\n", name)
		}),
	}
	broken := make(chan error, 1)
	go func() { broken <- server.ListenAndServe() }()
	select {
	case err := <-broken:
		return err
	case <-asked.Done():
	}
	patience, enough := context.WithTimeout(context.Background(), lastRequest)
	defer enough()
	if err := server.Shutdown(patience); !errors.Is(err, context.DeadlineExceeded) {
		return err
	}
	return server.Close()
}

func setting(name, otherwise string) string {
	if value := os.Getenv(name); value != "" {
		return value
	}
	return otherwise
}
