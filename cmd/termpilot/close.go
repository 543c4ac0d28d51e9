package main

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"termpilot/closing"
	"termpilot/shellwords"
	"termpilot/terminal"
)

// closeFlags is what the flags of close say.
type closeFlags struct {
	tab, window, all    bool
	force, dry, inspect bool
}

func (a *app) closeCommand() *cobra.Command {
	var s settings
	var f closeFlags
	cmd := &cobra.Command{
		Use:        "close [SESSION]",
		Short:      "Close a session, its tab or its window, without losing work",
		SuggestFor: []string{"kill", "rm"},
		Long: "Close a session, its tab or its window, without losing work.\n\n" +
			"What is at work, waits for somebody or is not known is not closed, unless --force, which may interrupt it. What\n" +
			"is needed to take a coding agent's chat up again is written down first: see termpilot recover.\n" +
			"Exit codes: 0 closed or nothing to close, 1 partly or not known, 7 refused.",
		Example: "  termpilot close acorn\n  termpilot close acorn --inspect\n  termpilot close acorn --tab --dry-run\n  termpilot close --all",
		Args:    cobra.MaximumNArgs(1),
		PreRunE: func(_ *cobra.Command, args []string) error { return f.check(len(args) == 1) },
		RunE: a.withDeck(&s, func(ctx context.Context, d *deck, args []string) (err error) {
			id := ""
			if len(args) == 1 {
				if id, err = d.pilot.Named(ctx, args[0]); err != nil {
					return err
				}
			}
			if f.inspect {
				items, err := d.closer.Inspect(ctx, id, "")
				if err != nil {
					return err
				}
				return a.reportItems(items)
			}
			r, err := d.closer.Close(ctx, closing.Request{Operation: f.operation(), SessionID: id, Force: f.force, DryRun: f.dry})
			if err != nil {
				return err
			}
			return a.reportClose(r)
		}),
	}
	s.flags(cmd)
	flags := cmd.Flags()
	flags.BoolVar(&f.tab, "tab", false, "close the whole tab that the session is in")
	flags.BoolVar(&f.window, "window", false, "close the whole window that the session is in")
	flags.BoolVar(&f.all, "all", false, "close every session that is idle")
	flags.BoolVar(&f.force, "force", false, "also interrupt what is at work")
	flags.BoolVar(&f.dry, "dry-run", false, "say what would happen, and do nothing")
	flags.BoolVar(&f.inspect, "inspect", false, "say what runs in it, or in all, and what keeps it from being closed")
	return a.completesSession(a.withJSON(cmd))
}

// check refuses flags that do not say one thing.
func (f closeFlags) check(named bool) error {
	switch {
	case f.tab && f.window, f.all && (named || f.tab || f.window):
		return usage(errors.New("name one session, with --tab or --window what it is in, or pass --all"))
	case !named && !f.all && !f.inspect:
		return usage(errors.New("name a session, or pass --all"))
	case f.inspect && (f.tab || f.window || f.force || f.dry):
		return usage(errors.New("--inspect closes nothing: it goes with no other flag"))
	}
	return nil
}

func (f closeFlags) operation() closing.Operation {
	switch {
	case f.all:
		return closing.CleanAll
	case f.tab:
		return closing.CloseTab
	case f.window:
		return closing.CloseWindow
	}
	return closing.CloseSession
}

// itemRows are sessions of a close as a table's rows.
func itemRows(lists ...[]closing.Item) [][]string {
	var rows [][]string
	for _, list := range lists {
		for _, item := range list {
			var chats []string
			for _, chat := range item.Chats {
				chats = append(chats, strings.TrimSpace(chat.CLI+" "+chat.ChatID))
			}
			for _, left := range item.Survivors {
				chats = append(chats, fmt.Sprintf("%s (%d) lives on", left.Name, left.PID))
			}
			rows = append(rows, []string{item.SessionID, item.Name, string(item.State), item.Closure, item.Code, item.Reason, strings.Join(chats, ", ")})
		}
	}
	return rows
}

var itemHeader = []string{"SESSION", "NAME", "STATE", "CLOSE", "CODE", "REASON", "CHATS"}

func (a *app) reportItems(items []closing.Item) error {
	if a.json {
		return a.printJSON(struct {
			Sessions []closing.Item `json:"sessions"`
		}{items})
	}
	return a.printTable(itemHeader, itemRows(items))
}

func (a *app) reportClose(r closing.Result) error {
	if a.json {
		if err := a.printJSON(r); err != nil {
			return err
		}
	} else {
		if rows := itemRows(r.Closed, r.Skipped, r.Failed, r.Unknown); len(rows) > 0 {
			if err := a.printTable(itemHeader, rows); err != nil {
				return err
			}
		}
		words := string(r.Status)
		if r.Reason != "" {
			words += ": " + r.Reason
		}
		a.note("%s", words)
		if r.Hint != "" {
			a.note("hint: %s", inCommands(r.Hint))
		}
		if r.RecoveryID != "" {
			a.note("the receipt is %s; see termpilot recover %s", r.RecoveryID, r.RecoveryID)
		}
	}
	switch r.Status {
	case closing.Closed, closing.Noop, closing.DryRun:
		return nil
	case closing.Refused:
		return &outcome{code: exitRefused}
	}
	return &outcome{code: exitFailed}
}

func (a *app) recoverCommand() *cobra.Command {
	var s settings
	var reopen, again bool
	var prune time.Duration
	cmd := &cobra.Command{
		Use:        "recover [RECEIPT]",
		Short:      "List what was closed, and open it again",
		SuggestFor: []string{"reopen", "receipts"},
		Example: "  termpilot recover\n  termpilot recover RECEIPT\n  termpilot recover RECEIPT --reopen\n" +
			"  termpilot recover --prune 720h",
		Args: cobra.MaximumNArgs(1),
		RunE: a.withDeck(&s, func(ctx context.Context, d *deck, args []string) error {
			id := strings.Join(args, "") // one, or none
			switch {
			case prune > 0 && id == "" && !reopen:
				n, err := d.closer.Prune(prune)
				switch {
				case err != nil:
					return err
				case a.json:
					return a.printJSON(struct {
						Removed int `json:"removed"`
					}{n})
				}
				a.note("%s removed", plural(n, "receipt"))
				return nil
			case prune != 0, (reopen || again) && id == "", again && !reopen:
				return usage(fmt.Errorf("--reopen needs a receipt, --again needs --reopen, and --prune an age and nothing else"))
			case reopen:
				r, err := d.closer.Reopen(ctx, id, again)
				if err != nil {
					return err
				}
				return a.reportReceipts([]closing.Receipt{r}, true)
			}
			list, err := d.closer.Recoveries(id)
			if err != nil {
				return err
			}
			return a.reportReceipts(list, id != "")
		}),
	}
	s.flags(cmd)
	f := cmd.Flags()
	f.BoolVar(&reopen, "reopen", false, "open its sessions again, each in its folder, with its chat taken up")
	f.BoolVar(&again, "again", false, "with --reopen: also what was opened again already")
	f.DurationVar(&prune, "prune", 0, "remove the receipts of closes that ended longer ago than this")
	return completesFirst(a.withJSON(cmd), a.receiptWords)
}

func (a *app) reportReceipts(list []closing.Receipt, whole bool) error {
	if a.json {
		return a.printJSON(struct {
			Recoveries []closing.Receipt `json:"recoveries"`
		}{list})
	}
	if !whole {
		var rows [][]string
		for _, r := range list {
			rows = append(rows, []string{r.ID, r.Began.Local().Format(time.DateTime), string(r.Operation), r.Status, plural(len(r.Sessions), "session")})
		}
		if len(rows) == 0 {
			a.note("nothing was closed yet")
			return nil
		}
		return a.printTable([]string{"RECEIPT", "BEGAN", "OPERATION", "STATUS", "SESSIONS"}, rows)
	}
	for _, r := range list {
		fmt.Fprintf(a.out, "%s  %s  %s  %s\n", r.ID, r.Began.Local().Format(time.DateTime), r.Operation, r.Status)
		if err := a.printTable(itemHeader, itemRows(r.Sessions)); err != nil {
			return err
		}
		for _, s := range r.Sessions {
			for _, chat := range s.Chats {
				if chat.Resume != nil {
					fmt.Fprintf(a.out, "%s: %s\n", terminal.OneLine(s.Name, 0), terminal.OneLine(shellwords.Join(chat.Resume.Argv), 0))
				}
			}
		}
		for _, one := range r.Reopened {
			if one.As == "" {
				fmt.Fprintf(a.out, "whether %s was opened again is not known\n", terminal.OneLine(one.SessionID, 0))
				continue
			}
			fmt.Fprintf(a.out, "%s was opened again as %s\n", terminal.OneLine(one.SessionID, 0), terminal.OneLine(one.As, 0))
		}
	}
	return nil
}
