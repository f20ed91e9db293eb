package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"time"

	"k8s.io/apimachinery/pkg/types"
	remoteprotocol "k8s.io/apimachinery/pkg/util/remotecommand"
	clientcommand "k8s.io/client-go/tools/remotecommand"
	"k8s.io/client-go/util/cert"
	"k8s.io/kubelet/pkg/cri/streaming/remotecommand"
	utilexec "k8s.io/utils/exec"
)

const (
	idle      = 10 * time.Minute
	handshake = 30 * time.Second
	pollLog   = 50 * time.Millisecond
)

// serveNode answers as a kubelet does, with the kubelet's own code for commands. A container's log is the file
// NAMESPACE_POD_CONTAINER.log of the folder; its commands run on this machine, in the folder.
func serveNode(address, folder string) error {
	host, _, err := net.SplitHostPort(address)
	if err != nil {
		return err
	}
	chain, key, err := cert.GenerateSelfSignedCertKey(host, []net.IP{net.ParseIP(host)}, nil)
	if err != nil {
		return err
	}
	chainFile, keyFile := filepath.Join(folder, "node.crt"), filepath.Join(folder, "node.key")
	if err := errors.Join(os.WriteFile(chainFile, chain, 0o600), os.WriteFile(keyFile, key, 0o600)); err != nil {
		return err
	}
	mux := http.NewServeMux()
	mux.HandleFunc("/containerLogs/{namespace}/{pod}/{container}", func(w http.ResponseWriter, r *http.Request) {
		serveLog(w, r, filepath.Join(folder, strings.Join([]string{r.PathValue("namespace"), r.PathValue("pod"), r.PathValue("container")}, "_")+".log"))
	})
	mux.HandleFunc("/exec/{namespace}/{pod}/{container}", func(w http.ResponseWriter, r *http.Request) {
		serveCommand(w, r, folder)
	})
	// The streams of commands are an upgrade of HTTP/1.1.
	protocols := new(http.Protocols)
	protocols.SetHTTP1(true)
	server := &http.Server{Addr: address, Handler: mux, Protocols: protocols}
	return server.ListenAndServeTLS(chainFile, keyFile)
}

func serveCommand(w http.ResponseWriter, r *http.Request, folder string) {
	options, err := remotecommand.NewOptions(r)
	if err != nil {
		http.Error(w, err.Error(), http.StatusBadRequest)
		return
	}
	remotecommand.ServeExec(w, r, executor{folder}, r.PathValue("pod"), "", r.PathValue("container"),
		r.URL.Query()["command"], options, idle, handshake, remoteprotocol.SupportedStreamingProtocols)
}

type executor struct{ folder string }

// ExecInContainer runs the command; with a terminal it tells the sizes of the terminal before that.
func (e executor) ExecInContainer(ctx context.Context, _ string, _ types.UID, _ string, command []string, in io.Reader, out, err io.WriteCloser,
	tty bool, resize <-chan clientcommand.TerminalSize, _ time.Duration) error {
	if tty {
		size := <-resize
		fmt.Fprintf(out, "terminal %dx%d\r\n", size.Width, size.Height)
	}
	process := exec.CommandContext(ctx, command[0], command[1:]...)
	process.Dir, process.Stdout = e.folder, out
	// A stream that was not asked for is nil, which the interface around it would hide.
	if err != nil {
		process.Stderr = err
	}
	if in != nil {
		input, failure := process.StdinPipe()
		if failure != nil {
			return failure
		}
		go func() {
			_, _ = io.Copy(input, in)
			_ = input.Close()
		}()
	}
	failure := process.Run()
	var exit *exec.ExitError
	if errors.As(failure, &exit) {
		return utilexec.CodeExitError{Err: failure, Code: exit.ExitCode()}
	}
	return failure
}

// serveLog sends the last lines of the file, and with follow those that come, until the caller goes.
func serveLog(w http.ResponseWriter, r *http.Request, path string) {
	text, err := os.ReadFile(path)
	if err != nil {
		http.Error(w, "no such log", http.StatusNotFound)
		return
	}
	flusher := w.(http.Flusher)
	_, _ = w.Write(lastLines(text, r.URL.Query().Get("tailLines")))
	flusher.Flush()
	for sent := len(text); r.URL.Query().Get("follow") == "true"; {
		select {
		case <-r.Context().Done():
			return
		case <-time.After(pollLog):
		}
		if text, err = os.ReadFile(path); err != nil || len(text) <= sent {
			continue
		}
		_, _ = w.Write(text[sent:])
		flusher.Flush()
		sent = len(text)
	}
}

func lastLines(text []byte, wanted string) []byte {
	count, err := strconv.Atoi(wanted)
	if err != nil {
		return text
	}
	lines := strings.SplitAfter(string(text), "\n")
	// The last one is empty, after the end of the last line.
	return []byte(strings.Join(lines[max(0, len(lines)-1-count):], ""))
}
