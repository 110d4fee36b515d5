// SPDX-License-Identifier: Apache-2.0
#ifndef RECLAIM_KUBE_TESTING_FAKE_API_SERVER_H_
#define RECLAIM_KUBE_TESTING_FAKE_API_SERVER_H_

#include <openssl/ssl.h>

#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <thread>
#include <vector>

#include "absl/base/thread_annotations.h"
#include "absl/strings/string_view.h"
#include "absl/synchronization/mutex.h"
#include "common/testing/test_ca.h"
#include "kube/config.h"
#include "kube/json.h"

namespace reclaim::kube::testing {

struct FakeRequest {
  std::string method;
  std::string target;                          // path and query as sent
  std::map<std::string, std::string> headers;  // names in lower case
  std::string body;
  int connection = 0;       // counts from 1 in the order of accept
  std::string client_name;  // common name of the TLS client certificate, if any
};

// One HTTP exchange seen from the server: bytes go out exactly as told, so that every way in which
// a server or a network misbehaves can be played. Used on the connection's thread.
class FakeReply {
 public:
  FakeReply(int fd, SSL* ssl) : fd_(fd), ssl_(ssl) {}

  void SendRaw(absl::string_view bytes);

  // A complete answer with Content-Length; `headers` are lines ended by "\r\n".
  void Respond(int status, absl::string_view body, absl::string_view headers = "");
  void RespondJson(const Json& body) { Respond(200, DumpJson(body)); }

  // A chunked answer, as a watch is one.
  void BeginStream();
  void Chunk(absl::string_view data);
  void EndStream();

  // Says nothing until the client closes or the server stops. Then the connection is over.
  void HoldOpen();

  // Closes the connection without another byte.
  void Hangup() { hung_up_ = true; }
  bool hung_up() const { return hung_up_; }

 private:
  const int fd_;
  SSL* const ssl_;
  bool hung_up_ = false;
};

// An HTTP/1.1 server on 127.0.0.1 with a port of its own choice; one thread for each connection.
class FakeApiServer {
 public:
  using Handler = std::function<void(const FakeRequest& request, FakeReply& reply)>;

  struct TlsOptions {
    TestIdentity identity = {};
    std::string client_ca_pem = {};  // not empty: client certificates are asked for, and verified
  };

  explicit FakeApiServer(Handler handler, std::optional<TlsOptions> tls = std::nullopt);
  ~FakeApiServer();

  // New connections get this certificate from now on.
  void SetIdentity(const TestIdentity& identity);

  // New connections speak no newer TLS than this (TLS1_1_VERSION, ...).
  void SetMaxProtocol(int version);

  // Closes every connection that exists now, as an API server that restarts does.
  void CloseConnections();

  int port() const { return port_; }

  // A configuration that reaches this server as 127.0.0.1, with `ca_pem` when it speaks TLS.
  ClientConfig Config(const std::string& ca_pem = "") const;

  std::vector<FakeRequest> requests() const;

 private:
  struct Connection {
    int number = 0;
    int fd = -1;
    std::thread thread;
  };

  void AddContext(const TestIdentity& identity) ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_);
  void Accept();
  void Serve(int number, int fd);
  std::optional<FakeRequest> ReadRequest(int fd, SSL* ssl, std::string& buffered);

  const Handler handler_;
  const std::optional<TlsOptions> tls_;
  int listen_fd_ = -1;
  int port_ = 0;
  std::thread accept_thread_;

  mutable absl::Mutex mutex_;
  // The last one is for new connections. The older ones live as long as the server: keys are
  // counted inside OpenSSL, where ThreadSanitizer cannot see that the last user is gone.
  std::vector<SSL_CTX*> contexts_ ABSL_GUARDED_BY(mutex_);
  bool stopping_ ABSL_GUARDED_BY(mutex_) = false;
  std::vector<std::unique_ptr<Connection>> connections_ ABSL_GUARDED_BY(mutex_);
  std::vector<FakeRequest> requests_ ABSL_GUARDED_BY(mutex_);
};

}  // namespace reclaim::kube::testing

#endif  // RECLAIM_KUBE_TESTING_FAKE_API_SERVER_H_
