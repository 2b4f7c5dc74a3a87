/* The one function of Windows' bcryptprimitives.dll that Rust's standard library calls, for a wine that lacks it. The
   random numbers come from SystemFunction036 of advapi32, which wine has. */
#include <windows.h>

BOOLEAN NTAPI SystemFunction036(PVOID buffer, ULONG length);

__declspec(dllexport) BOOL WINAPI ProcessPrng(PBYTE data, SIZE_T size)
{
    return SystemFunction036(data, (ULONG)size);
}
