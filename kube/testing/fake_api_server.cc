// SPDX-License-Identifier: Apache-2.0
#include "kube/testing/fake_api_server.h"

#include <arpa/inet.h>
#include <netinet/in.h>
#include <openssl/err.h>
#include <openssl/pem.h>
#include <poll.h>
#include <sys/socket.h>
#include <unistd.h>

#include <array>
#include <utility>

#include "absl/strings/ascii.h"
#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "absl/strings/str_split.h"
#include "common/openssl_ptr.h"
#include "gtest/gtest.h"
#include "kube/transport.h"

namespace reclaim::kube::testing {
namespace {

void UseIdentity(SSL_CTX* context, const TestIdentity& identity) {
  const X509Ptr certificate(
      PEM_read_bio_X509(ReadBio(identity.cert_pem).get(), nullptr, nullptr, nullptr));
  const EvpKeyPtr key(
      PEM_read_bio_PrivateKey(ReadBio(identity.key_pem).get(), nullptr, nullptr, nullptr));
  EXPECT_EQ(SSL_CTX_use_certificate(context, certificate.get()), 1);
  EXPECT_EQ(SSL_CTX_use_PrivateKey(context, key.get()), 1);
}

void AskForClientCertificates(SSL_CTX* context, const std::string& ca_pem) {
  const X509Ptr authority(PEM_read_bio_X509(ReadBio(ca_pem).get(), nullptr, nullptr, nullptr));
  X509_STORE_add_cert(SSL_CTX_get_cert_store(context), authority.get());
  SSL_CTX_set_verify(context, SSL_VERIFY_PEER | SSL_VERIFY_FAIL_IF_NO_PEER_CERT, nullptr);
}

std::string ClientName(SSL* ssl) {
  const X509Ptr certificate(ssl == nullptr ? nullptr : SSL_get1_peer_certificate(ssl));
  if (certificate == nullptr) return "";
  std::array<char, 256> name = {};
  X509_NAME_get_text_by_NID(X509_get_subject_name(certificate.get()), NID_commonName, name.data(),
                            name.size());
  return name.data();
}

}  // namespace

void FakeReply::SendRaw(absl::string_view bytes) {
  while (!bytes.empty()) {
    const ssize_t sent = ssl_ != nullptr
                             ? SSL_write(ssl_, bytes.data(), static_cast<int>(bytes.size()))
                             : send(fd_, bytes.data(), bytes.size(), MSG_NOSIGNAL);
    if (sent <= 0) {
      hung_up_ = true;
      return;
    }
    bytes.remove_prefix(static_cast<size_t>(sent));
  }
}

void FakeReply::Respond(int status, absl::string_view body, absl::string_view headers) {
  SendRaw(absl::StrCat("HTTP/1.1 ", status, " x\r\nContent-Type: application/json\r\n", headers,
                       "Content-Length: ", body.size(), "\r\n\r\n", body));
}

void FakeReply::BeginStream() {
  SendRaw(
      "HTTP/1.1 200 OK\r\nContent-Type: application/json\r\nTransfer-Encoding: chunked\r\n\r\n");
}

void FakeReply::Chunk(absl::string_view data) {
  SendRaw(absl::StrCat(absl::StrFormat("%x", data.size()), "\r\n", data, "\r\n"));
}

void FakeReply::EndStream() { SendRaw("0\r\n\r\n"); }

void FakeReply::HoldOpen() {
  pollfd look = {.fd = fd_, .events = POLLIN, .revents = 0};
  poll(&look, 1, -1);
  hung_up_ = true;
}

FakeApiServer::FakeApiServer(Handler handler, std::optional<TlsOptions> tls)
    : handler_(std::move(handler)), tls_(std::move(tls)) {
  IgnoreSigpipe();
  if (tls_) {
    absl::MutexLock lock(&mutex_);
    AddContext(tls_->identity);
  }
  listen_fd_ = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
  sockaddr_in address = {};
  address.sin_family = AF_INET;
  address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
  socklen_t size = sizeof(address);
  EXPECT_EQ(bind(listen_fd_, reinterpret_cast<sockaddr*>(&address), size), 0);
  EXPECT_EQ(listen(listen_fd_, 64), 0);
  EXPECT_EQ(getsockname(listen_fd_, reinterpret_cast<sockaddr*>(&address), &size), 0);
  port_ = ntohs(address.sin_port);
  accept_thread_ = std::thread([this] { Accept(); });
}

FakeApiServer::~FakeApiServer() {
  {
    absl::MutexLock lock(&mutex_);
    stopping_ = true;
  }
  shutdown(listen_fd_, SHUT_RDWR);
  accept_thread_.join();
  close(listen_fd_);
  CloseConnections();
  std::vector<std::unique_ptr<Connection>> connections;
  {
    absl::MutexLock lock(&mutex_);
    connections.swap(connections_);
  }
  for (const auto& connection : connections) {
    connection->thread.join();
    close(connection->fd);
  }
  absl::MutexLock lock(&mutex_);
  for (SSL_CTX* context : contexts_) SSL_CTX_free(context);
}

void FakeApiServer::AddContext(const TestIdentity& identity) {
  SSL_CTX* context = SSL_CTX_new(TLS_server_method());
  UseIdentity(context, identity);
  if (!tls_->client_ca_pem.empty()) AskForClientCertificates(context, tls_->client_ca_pem);
  contexts_.push_back(context);
}

void FakeApiServer::SetIdentity(const TestIdentity& identity) {
  absl::MutexLock lock(&mutex_);
  AddContext(identity);
}

void FakeApiServer::SetMaxProtocol(int version) {
  absl::MutexLock lock(&mutex_);
  SSL_CTX_set_min_proto_version(contexts_.back(), version);
  SSL_CTX_set_max_proto_version(contexts_.back(), version);
  SSL_CTX_set_security_level(contexts_.back(), 0);
}

void FakeApiServer::CloseConnections() {
  absl::MutexLock lock(&mutex_);
  for (const auto& connection : connections_) shutdown(connection->fd, SHUT_RDWR);
}

ClientConfig FakeApiServer::Config(const std::string& ca_pem) const {
  ClientConfig config;
  config.source = "test";
  config.tls = tls_.has_value();
  config.host = "127.0.0.1";
  config.port = port_;
  config.certificate_authority.data = ca_pem;
  return config;
}

std::vector<FakeRequest> FakeApiServer::requests() const {
  absl::MutexLock lock(&mutex_);
  return requests_;
}

void FakeApiServer::Accept() {
  for (int number = 1;; ++number) {
    const int fd = accept4(listen_fd_, nullptr, nullptr, SOCK_CLOEXEC);
    absl::MutexLock lock(&mutex_);
    if (fd < 0 || stopping_) {
      if (fd >= 0) close(fd);
      return;
    }
    connections_.push_back(std::make_unique<Connection>());
    connections_.back()->number = number;
    connections_.back()->fd = fd;
    connections_.back()->thread = std::thread([this, number, fd] { Serve(number, fd); });
  }
}

void FakeApiServer::Serve(int number, int fd) {
  SSL* ssl = nullptr;
  bool open = true;
  if (tls_) {
    {
      absl::MutexLock lock(&mutex_);
      ssl = SSL_new(contexts_.back());
    }
    SSL_set_fd(ssl, fd);
    open = SSL_accept(ssl) == 1;
  }
  std::string buffered;
  while (open) {
    std::optional<FakeRequest> request = ReadRequest(fd, ssl, buffered);
    if (!request) break;
    request->connection = number;
    request->client_name = ClientName(ssl);
    {
      absl::MutexLock lock(&mutex_);
      requests_.push_back(*request);
    }
    FakeReply reply(fd, ssl);
    handler_(*request, reply);
    open = !reply.hung_up();
  }
  if (ssl != nullptr) {
    if (open) SSL_shutdown(ssl);
    SSL_free(ssl);
    ERR_clear_error();
  }
  // The descriptor itself lives until the server goes, so that its number is not used again.
  shutdown(fd, SHUT_RDWR);
}

std::optional<FakeRequest> FakeApiServer::ReadRequest(int fd, SSL* ssl, std::string& buffered) {
  std::array<char, 4096> bytes;
  const auto read_more = [&] {
    const ssize_t got = ssl != nullptr ? SSL_read(ssl, bytes.data(), static_cast<int>(bytes.size()))
                                       : recv(fd, bytes.data(), bytes.size(), 0);
    if (got > 0) buffered.append(bytes.data(), static_cast<size_t>(got));
    return got > 0;
  };
  size_t end = 0;
  while ((end = buffered.find("\r\n\r\n")) == std::string::npos) {
    if (!read_more()) return std::nullopt;
  }
  FakeRequest request;
  const std::vector<std::string> lines = absl::StrSplit(buffered.substr(0, end), "\r\n");
  const std::vector<std::string> words = absl::StrSplit(lines[0], ' ');
  request.method = words[0];
  request.target = words.size() > 1 ? words[1] : "";
  for (size_t i = 1; i < lines.size(); ++i) {
    const std::pair<std::string, std::string> header =
        absl::StrSplit(lines[i], absl::MaxSplits(": ", 1));
    request.headers[absl::AsciiStrToLower(header.first)] = header.second;
  }
  size_t length = 0;
  if (auto it = request.headers.find("content-length"); it != request.headers.end()) {
    EXPECT_TRUE(absl::SimpleAtoi(it->second, &length)) << it->second;
  }
  buffered.erase(0, end + 4);
  while (buffered.size() < length) {
    if (!read_more()) return std::nullopt;
  }
  request.body = buffered.substr(0, length);
  buffered.erase(0, length);
  return request;
}

}  // namespace reclaim::kube::testing
