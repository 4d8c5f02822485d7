// HAProxy's files from what is wanted: the same input gives the same bytes. Pure; used by the driver before every start
// and reload, and a while after every change.
#pragma once

#include <filesystem>
#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "proxy/haproxy/book.h"
#include "proxy/haproxy/driver.h"
#include "proxy/haproxy/image.h"

namespace fairlead::proxy::haproxy {

// How HAProxy gets its listening sockets: "fd@10" for one that it inherits, the address itself for one that it opens.
struct Binds {
    std::vector<std::string> http, https;
    std::string status;
    std::vector<std::string> ports{};  // "0.0.0.0:62000-62099": HAProxy opens them itself
};

std::string render_config(const Settings& settings, const std::filesystem::path& directory, const Binds& binds,
                          const std::vector<PoolClass>& classes, const Image& image);
std::string render_map(const MapEntries& entries);
// A line for each certificate, by host: only that host gets it, whatever names are in it.
std::string render_crt_list(const std::filesystem::path& directory,
                            const std::map<std::string, std::string>& certificates);
std::string crt_list_line(const std::filesystem::path& directory, std::string_view host);

// A whole response, as `errorfile` wants it.
std::string render_error_page(int code, std::string_view html);

// Where the certificate of a host, and the CA of a backend are.
std::filesystem::path certificate_path(const std::filesystem::path& directory, std::string_view host);
std::filesystem::path authority_path(const std::filesystem::path& directory, std::string_view backend);

}  // namespace fairlead::proxy::haproxy
