// The server's side of TLS: certificate, key and the CA for client certificates, loaded once; a Stream per connection.
// tls.cpp is its home in OpenSSL. A context is shared by all threads, a stream belongs to one.
#pragma once

#include <memory>

#include "base/result.h"
#include "net/server.h"
#include "net/stream.h"

namespace fairlead::net {

class TlsContext {
public:
    // Errors: invalid, naming the file and what is wrong with it.
    static Result<std::unique_ptr<TlsContext>> load(const TlsFiles& files);
    ~TlsContext();

    // The socket stays the caller's and outlives the stream. Null when OpenSSL has no memory left.
    [[nodiscard]] std::unique_ptr<Stream> make_stream(int socket) const;

private:
    struct Impl;
    explicit TlsContext(std::unique_ptr<Impl> impl);
    std::unique_ptr<Impl> impl_;
};

}  // namespace fairlead::net
