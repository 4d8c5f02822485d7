// Small files at the edge: certificates, kubeconfigs, run.json, manifests. Blocking.
#pragma once

#include <sys/types.h>

#include <filesystem>
#include <string>
#include <string_view>

#include "base/result.h"

namespace fairlead {

// Errors: not_found, internal (says path and reason).
Result<std::string> read_file(const std::filesystem::path& path);

// Changes when the file is replaced or rewritten: modification time, size and file number. Empty if there is no file.
std::string file_stamp(const std::filesystem::path& path);

// Readers see the old content or the new, never a part: written beside, synced, renamed. The mode holds from the first
// byte.
Result<void> write_file(const std::filesystem::path& path, std::string_view content, mode_t mode = 0644);

// Tells systemd (Type=notify) that the service is up or going down; does nothing outside of systemd.
void notify_service_manager(std::string_view state);

}  // namespace fairlead
