// Copyright (c) 2026 sunset.kube contributors
// GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt or https://www.gnu.org/licenses/gpl-3.0.txt)
// SPDX-License-Identifier: GPL-3.0-or-later

// The program in the lab's own images: `pod pause` holds a pod's namespaces, `pod app` is an application.
package main

import (
	"context"
	"fmt"
	"os"
	"os/signal"
	"syscall"
)

var roles = map[string]func(context.Context) error{"pause": pause, "app": app}

func main() {
	role := ""
	if len(os.Args) == 2 {
		role = os.Args[1]
	}
	run, known := roles[role]
	if !known {
		fmt.Fprintln(os.Stderr, "usage: pod pause|app")
		os.Exit(2)
	}
	asked, forget := signal.NotifyContext(context.Background(), syscall.SIGTERM, syscall.SIGINT)
	defer forget()
	if err := run(asked); err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
}

// pause does nothing until it is told to end. As the first process of a pod it inherits orphans: ignoring SIGCHLD lets
// the kernel bury them.
func pause(asked context.Context) error {
	signal.Ignore(syscall.SIGCHLD)
	<-asked.Done()
	return nil
}
